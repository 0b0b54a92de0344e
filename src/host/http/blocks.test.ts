import assert from "node:assert/strict";
import { Writable } from "node:stream";
import { test } from "node:test";
import { seededRandom, type Random } from "../../base/random.ts";
import { testSeed } from "../../testing/rounds.ts";
import { blocksOf, sendBlocks } from "./blocks.ts";

const BLOCK_BYTES = 64;

/** A client that reads nothing until `read`. What it was given is compared when it reads, as a socket encrypts it then. */
class SlowClient extends Writable {
  readonly received: Buffer[] = [];
  #waiting: { readonly chunk: Buffer; readonly done: (error?: Error) => void } | undefined;

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error) => void): void {
    this.#waiting = { chunk, done };
  }

  /** Accepts what was written; false if nothing was. */
  async read(): Promise<boolean> {
    const waiting = this.#waiting;
    if (waiting === undefined) return false;
    this.#waiting = undefined;
    this.received.push(Buffer.from(waiting.chunk));
    waiting.done();
    await new Promise(setImmediate);
    return true;
  }

  fail(): void {
    this.#waiting?.done(new Error("The connection was reset"));
  }
}

function somePieces(random: Random): Uint8Array[] {
  const sizes = [0, 1, BLOCK_BYTES - 1, BLOCK_BYTES, BLOCK_BYTES + 1, 3 * BLOCK_BYTES];
  return Array.from({ length: random.below(40) }, () => {
    const size = random.below(2) === 0 ? (sizes[random.below(sizes.length)] as number) : random.below(20);
    return Uint8Array.from({ length: size }, () => random.below(256));
  });
}

test("a large body arrives unchanged in blocks of one size, whatever the sizes of its pieces", async () => {
  const random = seededRandom(testSeed());
  for (let round = 0; round < 50; round++) {
    const pieces = somePieces(random);
    const client = new SlowClient();
    let blocks = 0;

    sendBlocks(client, pieces, { blockBytes: BLOCK_BYTES, onBlock: () => void blocks++ });
    await new Promise(setImmediate);
    while (await client.read());

    const whole = Buffer.concat(pieces);
    assert.deepEqual(Buffer.concat(client.received), whole);
    assert.ok(client.received.slice(0, -1).every(({ length }) => length === BLOCK_BYTES));
    assert.equal(blocks, client.received.length);
    assert.ok(client.writableFinished);
    assert.deepEqual(Buffer.concat([...blocksOf(pieces, BLOCK_BYTES)]), whole);
  }
});

test("a client that does not read holds one block of a large body", async () => {
  const client = new SlowClient();

  sendBlocks(client, [new Uint8Array(100 * BLOCK_BYTES)], { blockBytes: BLOCK_BYTES, onBlock() {} });
  await new Promise(setImmediate);

  assert.equal(client.writableLength, BLOCK_BYTES);
});

test("no block is sent after a client disconnects, and its response is not ended", async () => {
  for (const disconnect of [(client: SlowClient) => void client.destroy(), (client: SlowClient) => client.fail()]) {
    const client = new SlowClient();
    client.on("error", () => {});
    let blocks = 0;
    sendBlocks(client, [new Uint8Array(100 * BLOCK_BYTES)], { blockBytes: BLOCK_BYTES, onBlock: () => void blocks++ });
    await client.read();

    disconnect(client);
    await new Promise(setImmediate);

    assert.equal(blocks, 2);
    assert.equal(client.writableEnded, false);
  }
});

test("blocks for a reader that keeps them do not share memory", () => {
  const kept = [...blocksOf([new Uint8Array(BLOCK_BYTES).fill(1), new Uint8Array(BLOCK_BYTES).fill(2)], BLOCK_BYTES)];

  assert.deepEqual(
    kept.map(([first]) => first),
    [1, 2],
  );
});
