"""No random kernel of index arithmetic that is accepted races, and some of them are accepted."""

from tests.races.random_idioms import kernel_text
from tests.races.test_random_phases import judged

COUNT = 400


def test_no_accepted_kernel_races() -> None:
    proved, unsafe = judged(kernel_text, (f"idioms/{number}" for number in range(COUNT)))
    assert proved > 0.1 * COUNT and unsafe > 0.4 * COUNT, (proved, unsafe)
