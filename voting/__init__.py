"""Orders of the required keys, and the vote that merges the calls they give."""

from voting.call import CandidateCall, CandidateValue, VotedCall, VotedParameter
from voting.merge import merge
from voting.orders import DEFAULT_ORDER_LIMIT, OrderStrategy, draw_orders
from voting.type_check import TypeCheckError, check_value

__all__ = [
    "DEFAULT_ORDER_LIMIT",
    "CandidateCall",
    "CandidateValue",
    "OrderStrategy",
    "TypeCheckError",
    "VotedCall",
    "VotedParameter",
    "check_value",
    "draw_orders",
    "merge",
]
