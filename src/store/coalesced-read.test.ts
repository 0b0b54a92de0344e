import { test } from "node:test";
import { deepEqual, equal, rejects } from "node:assert/strict";
import { CoalescedRead } from "./coalesced-read.ts";

interface Look {
  readonly number: number;
  end(): void;
  fail(error: Error): void;
}

/** Reads that end when the test says so, each with its own number as result. */
class ManualLooks {
  #begun = 0;
  readonly #waiting: ((look: Look) => void)[] = [];
  readonly #ready: Look[] = [];
  readonly shared = new CoalescedRead(() => this.#look());

  get begun(): number {
    return this.#begun;
  }

  /** The next read that begins, or has begun and was not requested yet. */
  async next(): Promise<Look> {
    return this.#ready.shift() ?? new Promise((resolve) => this.#waiting.push(resolve));
  }

  #look(): Promise<number> {
    const number = ++this.#begun;
    return new Promise((resolve, reject) => {
      const look = { number, end: () => resolve(number), fail: reject };
      const waiting = this.#waiting.shift();
      if (waiting === undefined) this.#ready.push(look);
      else waiting(look);
    });
  }
}

test("a caller during a read does not share it; all callers meanwhile share the next", async () => {
  const looks = new ManualLooks();
  const first = looks.shared.read();
  const firstLook = await looks.next();
  const meanwhile = [looks.shared.read(), looks.shared.read(), looks.shared.read()];
  equal(looks.begun, 1, "one look at a time");

  firstLook.end();
  const secondLook = await looks.next();
  const late = looks.shared.read();
  secondLook.end();
  (await looks.next()).end();

  equal(await first, 1);
  deepEqual(await Promise.all(meanwhile), [2, 2, 2]);
  equal(await late, 3, "the second look was under way when this was asked");
  equal(looks.begun, 3);
});

test("a caller without a read in flight starts one at once", async () => {
  const looks = new ManualLooks();
  for (const number of [1, 2, 3]) {
    const asked = looks.shared.read();
    const look = await looks.next();
    equal(looks.begun, number);
    look.end();
    equal(await asked, number);
  }
});

test("a failing read fails for the callers that shared it only", async () => {
  const looks = new ManualLooks();
  const first = looks.shared.read();
  const meanwhile = [looks.shared.read(), looks.shared.read()];
  (await looks.next()).fail(new Error("lost"));
  await rejects(first, /lost/);
  (await looks.next()).end();
  deepEqual(await Promise.all(meanwhile), [2, 2]);
});
