"""rl-advisor: the practitioner at the shoulder of everyone who trains with reinforcement learning.

``read``, ``diagnose``, ``assess``, ``compare`` and the types they give are the face for programs (``rl_advisor.api``) and stay as they are;
they load when they are first asked for.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rl_advisor.api import Judgement, assess, compare, diagnose, read
    from rl_advisor.finding import Assessment, Finding
    from rl_advisor.run import Curve, Run

__version__ = "0.1.0"
__all__ = ["Assessment", "Curve", "Finding", "Judgement", "Run", "__version__", "assess", "compare", "diagnose", "read"]
_WHERE = {"Assessment": "finding", "Finding": "finding", "Curve": "run", "Run": "run"}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_WHERE.get(name, 'api')}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
