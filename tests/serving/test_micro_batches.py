"""Requests are gathered, answered in order, and a large one does not hold small ones up."""

import asyncio
import threading

import pytest

from eventide.serving import micro_batches
from eventide.serving.micro_batches import WAITING, MicroBatches, TooBusy


def test_what_waits_is_answered_together_and_in_order():
    sizes, hold = [], threading.Event()

    def work(items):
        sizes.append(len(items))
        hold.wait(10)
        return [item * 2 for item in items]

    async def main():
        batches = MicroBatches(work, most=8)
        first = asyncio.create_task(batches.submit([0]))
        async with asyncio.timeout(60):
            while not sizes:
                await asyncio.sleep(0.001)
        others = [asyncio.create_task(batches.submit([at])) for at in range(1, 11)]
        await asyncio.sleep(0.01)
        assert batches.waiting == 11
        hold.set()
        found = await asyncio.gather(first, *others)
        await batches.close()
        return found

    assert asyncio.run(main()) == [[2 * at] for at in range(11)]
    assert sizes == [1, 8, 2]


def test_those_who_ask_again_are_answered_together(monkeypatch):
    monkeypatch.setattr(micro_batches, "PAUSE", 60.0)
    monkeypatch.setattr(micro_batches, "LONGEST", 60.0)
    sizes = []

    def work(items):
        sizes.append(len(items))
        return items

    async def client(batches, number):
        for _ in range(3):
            await batches.submit([number])
            await asyncio.sleep(0.002 * number)  # they do not come back at once

    async def main():
        batches = MicroBatches(work)
        await asyncio.gather(*(client(batches, number) for number in range(8)))
        await batches.close()

    asyncio.run(main())
    assert sizes == [8, 8, 8]


def test_whoever_asks_alone_waits_for_nobody(monkeypatch):
    monkeypatch.setattr(micro_batches, "PAUSE", 60.0)
    monkeypatch.setattr(micro_batches, "LONGEST", 60.0)

    async def main():
        batches = MicroBatches(list)
        for each in range(3):
            assert await batches.submit([each]) == [each]
        await batches.close()

    asyncio.run(asyncio.wait_for(main(), 30))


def test_a_large_request_takes_turns_with_small_ones():
    order = []

    def work(items):
        order.append(items[0])
        return items

    async def main():
        batches = MicroBatches(work, most=4)
        large = asyncio.create_task(batches.submit(["large"] * 12))
        await asyncio.sleep(0)
        small = asyncio.create_task(batches.submit(["small"] * 4))
        await asyncio.gather(large, small)
        await batches.close()

    asyncio.run(main())
    assert order == ["large", "small", "large", "large"]


def test_an_error_reaches_those_of_its_batch_alone():
    def work(items):
        if "bad" in items:
            raise ValueError("bad")
        return items

    async def main():
        batches = MicroBatches(work, most=1)
        found = await asyncio.gather(
            batches.submit(["bad"]), batches.submit(["good"]), return_exceptions=True
        )
        await batches.close()
        return found

    bad, good = asyncio.run(main())
    assert isinstance(bad, ValueError)
    assert good == ["good"]


def test_too_many_waiting_are_refused():
    hold = threading.Event()

    def work(items):
        hold.wait(10)
        return items

    async def main():
        batches = MicroBatches(work)
        first = asyncio.create_task(batches.submit([1]))
        await asyncio.sleep(0)
        with pytest.raises(TooBusy):
            await batches.submit([2] * WAITING)
        hold.set()
        await first
        await batches.close()

    asyncio.run(main())
