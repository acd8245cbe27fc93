"""Orders of the required keys, and the vote that merges the calls they give."""

from voting.call import CandidateCall, CandidateValue, VotedCall, VotedParameter
from voting.confidence import Calibration, confidence
from voting.merge import DEFAULT_OPTIONAL_SHARE, merge
from voting.orders import DEFAULT_ORDER_LIMIT, OrderStrategy, draw_orders
from voting.stopping import DEFAULT_STOPPING_LEVEL, Stopping, orders_needed
from voting.type_check import TypeCheckError, check_value

__all__ = [
    "DEFAULT_OPTIONAL_SHARE",
    "DEFAULT_ORDER_LIMIT",
    "DEFAULT_STOPPING_LEVEL",
    "Calibration",
    "CandidateCall",
    "CandidateValue",
    "OrderStrategy",
    "Stopping",
    "TypeCheckError",
    "VotedCall",
    "VotedParameter",
    "check_value",
    "confidence",
    "draw_orders",
    "merge",
    "orders_needed",
]
