"""Orders of the required keys, and the majority vote over the calls that they give."""

from voting.call import AT_LIMIT, STOPPED, CandidateCall, CandidateValue, VotedCall, VotedParameter
from voting.merge import DEFAULT_OPTIONAL_SHARE, agrees, carries, is_settled, merge, order_ranks
from voting.orders import DEFAULT_ORDER_LIMIT, OrderScheme, draw_orders
from voting.type_check import TypeCheckError, check_value

__all__ = [
    "AT_LIMIT",
    "DEFAULT_OPTIONAL_SHARE",
    "DEFAULT_ORDER_LIMIT",
    "STOPPED",
    "CandidateCall",
    "CandidateValue",
    "OrderScheme",
    "TypeCheckError",
    "VotedCall",
    "VotedParameter",
    "agrees",
    "carries",
    "check_value",
    "draw_orders",
    "is_settled",
    "merge",
    "order_ranks",
]
