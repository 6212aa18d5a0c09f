"""What is tried again, and when."""

from eventide.serving.set_aside import AT_ONCE, MOST, SetAside


def test_halves_until_one_fails_alone_then_takes_more_again():
    aside = SetAside()
    taken, sizes = AT_ONCE, []
    while taken > 1:
        assert aside.failed([str(at) for at in range(taken)], ValueError())
        taken = aside.at_once
        sizes.append(taken)
    assert sizes == [250, 125, 62, 31, 15, 7, 3, 1]
    assert aside.failed(["bad"], ValueError("the text of a message"))
    assert aside.reasons() == {"ValueError": 1}
    for _ in range(10):
        aside.went_well()
    assert aside.at_once == AT_ONCE


def test_another_model_tries_everything_again():
    aside = SetAside()
    assert aside.ids("first") == []
    aside.failed(["bad"], ValueError())
    assert aside.ids("first") == ["bad"]
    assert aside.ids("second") == []


def test_many_failures_are_not_the_fault_of_messages():
    aside = SetAside()
    aside.ids("model")
    goes_on = [aside.failed([str(at)], ValueError()) for at in range(MOST)]
    assert all(goes_on[:-1])
    assert not goes_on[-1]
    assert aside.paused
    aside.ids("another")
    assert not aside.paused


def test_a_failure_without_messages_pauses_longer_each_time():
    aside = SetAside()
    assert not aside.failed([], ValueError())
    first = aside._pause
    assert not aside.failed([], ValueError())
    assert aside._pause == 2 * first
    aside.went_well()
    assert aside._pause < first
