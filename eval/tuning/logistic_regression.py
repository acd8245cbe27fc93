"""Logistic regression of "the value is right" on a few features, with cross-validated predictions."""

from collections.abc import Sequence
from random import Random
from typing import Final

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

FOLDS: Final = 5
RIDGE: Final = 0.5
"""Weight of the squared coefficients against the sum of the log-losses. Keeps a coefficient finite if its feature
separates right from wrong values perfectly, and zero if its feature is constant."""


def fit(features: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Fit a logistic regression.

    Parameters
    ----------
    features : array of float, shape (n, k)
    right : array of bool, shape (n,)

    Returns
    -------
    array of float, shape (k + 1,)
        The intercept, which has no ridge, and the weights.
    """
    design = np.column_stack([np.ones(len(features)), features])
    signs = np.where(right, 1.0, -1.0)

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        margins = signs * (design @ weights)
        slope = -signs * expit(-margins)
        ridge = RIDGE * weights[1:]
        value = np.logaddexp(0, -margins).sum() + 0.5 * float(weights[1:] @ ridge)
        return float(value), design.T @ slope + np.append(0.0, ridge)

    solution: np.ndarray = minimize(loss, np.zeros(design.shape[1]), jac=True, method="L-BFGS-B").x
    return solution


def predict(weights: np.ndarray, features: np.ndarray) -> np.ndarray:
    """Return probabilities, shape (n,)."""
    probabilities: np.ndarray = expit(weights[0] + features @ weights[1:])
    return probabilities


def cross_validated(features: np.ndarray, right: np.ndarray, groups: Sequence[str], seed: int) -> np.ndarray:
    """Return probabilities, each from a fit on the other folds. ``seed`` deals the groups to ``FOLDS`` folds."""
    names = sorted(set(groups))
    Random(seed).shuffle(names)
    fold_of = {name: number % FOLDS for number, name in enumerate(names)}
    folds = np.array([fold_of[g] for g in groups])
    probabilities = np.zeros(len(right))
    for fold in np.unique(folds):
        held = folds == fold
        probabilities[held] = predict(fit(features[~held], right[~held]), features[held])
    return probabilities
