"""Training and prediction on several machines, by Ray (extra `ray`).

What is large goes through files in a folder that all machines share: `shared` has the work and its results, `workers`
has Ray do the pieces that are missing, `connecting` finds or starts the cluster, `predicting` suggests labels for many
texts. Scheduling, retries and the loss of nodes are Ray's own business.
"""
