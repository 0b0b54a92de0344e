/** Whatever breaks between an informer and the server: its content converges, and every handler call is correct. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { pick, seededRandom, type Random } from "../../base/random.ts";
import { byteWire, UNBROKEN, type ByteWire, type WatchFate } from "../../testing/fixtures/byte-wire.ts";
import { rounds, testSeed } from "../../testing/rounds.ts";
import type { Transport } from "../../api/machinery/transport.ts";
import { laggingServer, repeating, withoutInitialEvents, type LaggingServer } from "./testing/bad-server.ts";
import { BrokenWorld } from "./testing/broken-world.ts";
import type { Happened } from "./testing/expected-calls.ts";

const seed = testSeed();

test("a watch cut at any of its bytes loses, duplicates and reorders nothing", async () => {
  await using wire = await byteWire();
  const random = seededRandom(seed);
  const history: Happened[] = [];
  const step = rounds({ quick: 40, full: 1 });

  // Until the cut is beyond the end of a stream with initial events and some changes.
  for (let bytes = 0; bytes <= wire.longestBytes + step; bytes += step) {
    for (const ending of ["cut", "silence"] as const) {
      let isFirst = true;
      wire.fateOf = () => {
        const fate = isFirst ? { ...UNBROKEN, bytes, ending } : UNBROKEN;
        isFirst = false;
        return fate;
      };
      await using world = new BrokenWorld(wire, { random, history });
      await wire.clock.settle();
      for (let left = 3; left > 0; left--) await world.write();
      await agrees(world, `seed ${seed}, ${ending} after ${bytes} bytes`);
    }
  }
  assert(wire.longestBytes > 1_000, "there were bytes to cut");
});

/** Cuts per world before comparing: few, so that a failure is short to read. */
const CUTS_OF_WORLD = 25;

const SERVERS = ["plain", "without initial events", "repeating", "lagging"] as const;

for (const [index, kind] of SERVERS.entries()) {
  test(`a server that is ${kind}, restarts, compacts, delays and cuts is followed without loss`, async () => {
    const worlds = rounds({ quick: 2, full: 10_000 / SERVERS.length / CUTS_OF_WORLD });
    for (let world = 0; world < worlds; world++) {
      const worldSeed = seed + world * SERVERS.length + index;
      await tortured(kind, seededRandom(worldSeed)).catch((error: unknown) => {
        throw new Error(`World ${world} of ${worlds} broke, K8TS_SEED=${seed}: ${String(error)}`, { cause: error });
      });
    }
  });
}

async function tortured(kind: (typeof SERVERS)[number], random: Random): Promise<void> {
  await using wire = await byteWire();
  wire.fateOf = () => randomFate(random);
  const lagging = laggingServer(random);
  const over = {
    plain: (same: Transport) => same,
    "without initial events": withoutInitialEvents,
    repeating: repeating(random),
    lagging: lagging.over,
  };
  await using world = new BrokenWorld(wire, { random, over: over[kind] });
  while (wire.breaks < CUTS_OF_WORLD) {
    for (let left = random.below(6); left > 0; left--) await world.write();
    await disturb(wire, random);
    if (kind === "lagging" && random.below(4) === 0) await fallBehind(world, lagging, random);
    await wire.clock.advance(pick(random, [0, 100, 2_000, 40_000, 200_000]));
  }
  await world.check();
}

/** None so slow that something is still in flight at the end. */
const PACES = [
  { pieceBytes: Infinity, delayMs: 0 },
  { pieceBytes: 7, delayMs: 0 },
  { pieceBytes: 11, delayMs: 200 },
  { pieceBytes: 100, delayMs: 2_000 },
] as const;

function randomFate(random: Random): WatchFate {
  const bytes = pick(random, [random.below(300), random.below(3_000)]);
  return { bytes, ending: random.below(5) === 0 ? "silence" : "cut", ...pick(random, PACES) };
}

async function disturb(wire: ByteWire, random: Random): Promise<void> {
  if (random.below(6) === 0) await wire.store.compact(await wire.store.currentRevision());
  if (random.below(6) === 0) {
    await wire.stopServer();
    await wire.clock.advance(pick(random, [0, 5_000, 100_000]));
    await wire.startServer();
  }
}

/** A client reaches a server whose state precedes the last writes; it catches up soon, since a permanent lag is another history. */
async function fallBehind(world: BrokenWorld, lagging: LaggingServer, random: Random): Promise<void> {
  const { wire } = world;
  const { fateOf } = wire;
  // Only an up-to-date client can be ahead.
  wire.fateOf = () => UNBROKEN;
  await wire.clock.advance(200_000);
  const { items, revision } = await world.listed();
  for (let left = 1 + random.below(3); left > 0; left--) await world.write();
  await wire.clock.advance(1_000);
  lagging.fallBehind(items, revision);
  await wire.stopServer();
  await wire.startServer();
  await wire.clock.advance(2_000 + random.below(8_000));
  lagging.catchUp();
  wire.fateOf = fateOf;
}

async function agrees(world: BrokenWorld, what: string): Promise<void> {
  await world.check().catch((error: unknown) => {
    throw new Error(`Not what it should be, ${what}: ${String(error)}`, { cause: error });
  });
}
