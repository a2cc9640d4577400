"""Suggestions over HTTP: models as a REST service with a page for people (extra `serve`).

settings            what can be set
shelf  model        the models by name: loaded, tried, exchanged
messages            every request and answer as a type; OpenAPI is made from these
endpoint            from a request to a typed value, from a typed answer to a response; problems when it goes wrong
endpoints/          one file per thing that can be asked, listed in `endpoints.ALL`
sockets             where a service listens
protocol            requests off a connection, with a short cut for those that need no waiting
app  server         all of it as an ASGI application, and the processes that run it
page/               what is served at /: plain files, no build step
"""
