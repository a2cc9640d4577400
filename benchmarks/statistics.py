"""The numbers by which a data set resembles another: those of the papers' Table 1, and the shape of the tails."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

__all__ = ["statistics"]


def statistics(features: sp.csr_matrix, labels: sp.csr_matrix) -> dict[str, float]:
    """Of the training texts; a label's frequency is its number of training texts, unseen labels left out."""
    frequency = np.sort(labels.getnnz(axis=0))[::-1]
    frequency = frequency[frequency > 0]
    covered = np.cumsum(frequency) / frequency.sum()
    words = np.sort(features.getnnz(axis=0))[::-1] / features.shape[0]
    per_text = np.diff(labels.indptr)
    return {
        "texts": int(labels.shape[0]),
        "labels": len(frequency),
        "features": int(features.shape[1]),
        "labels_per_text": float(per_text.mean()),
        "labels_per_text_sd": float(per_text.std()),
        "texts_per_label": float(frequency.mean()),
        "most_frequent_label": int(frequency[0]),
        "labels_over_100_texts": float((frequency > 100).mean()),
        "labels_up_to_5_texts": float((frequency <= 5).mean()),
        "share_of_top_1_percent": float(covered[len(frequency) // 100]),
        "share_of_top_10_percent": float(covered[len(frequency) // 10]),
        "features_per_text": float(features.nnz / features.shape[0]),
        "texts_with_100th_word": float(words[min(99, len(words) - 1)]),
        "texts_with_1000th_word": float(words[min(999, len(words) - 1)]),
    }
