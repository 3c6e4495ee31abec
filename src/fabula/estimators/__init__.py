"""Estimators in the manner of scikit-learn: template learning and essence, for pipelines and searches.

Needs the extra ``sklearn``; the essence also ``train``, to be fitted.
"""

from fabula.errors import import_extra

import_extra("sklearn", extra="sklearn", purpose="an estimator")

from fabula.estimators.essence import EssenceEncoder  # noqa: E402
from fabula.estimators.templates import TemplateLearner  # noqa: E402

__all__ = ["EssenceEncoder", "TemplateLearner"]
