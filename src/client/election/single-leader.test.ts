import assert from "node:assert/strict";
import { test } from "node:test";
import { leases } from "../../api/coordination.k8s.io/v1/lease.ts";
import { pick, seededRandom, type Random } from "../../base/random.ts";
import { rounds, testSeed } from "../../testing/rounds.ts";
import { LEASE, openHall, type Candidate, type Hall } from "./testing/candidates.ts";

const CANDIDATES = ["a", "b", "c", "d", "e"];
const MISFORTUNES = 30;

/** A fault of one candidate, or its repair. A dead candidate is replaced by one with another identity. */
function befall(random: Random, hall: Hall, candidates: Candidate[]): string {
  const index = random.below(candidates.length);
  const { identity, process, election } = candidates[index] as Candidate;
  const successor = (): Candidate => (candidates[index] = hall.stand(`${identity}+`, { skewMs: random.below(1_000_000) }));
  switch (pick(random, ["dies", "freezes", "thaws", "stops", "network", "network"] as const)) {
    case "dies":
      process.kill();
      return `${identity} dies for ${successor().identity}`;
    case "freezes":
      if (process.state === "runs") process.freeze();
      return `${identity} freezes`;
    case "thaws":
      if (process.state === "frozen") process.thaw();
      return `${identity} thaws`;
    case "stops":
      void election.stop();
      return `${identity} stops for ${successor().identity}`;
    case "network":
      process.cut(pick(random, ["connected", "refused", "silent", "lost answers"] as const));
      return `${identity} is ${process.network}`;
  }
}

test("under any faults of five candidates and their networks there are never two leaders, and finally one", async () => {
  const seed = testSeed();
  for (let round = 0; round < rounds({ quick: 5, full: 300 }); round++) {
    const random = seededRandom(seed).derive(`round ${round}`);
    await using hall = await openHall();
    const candidates = CANDIDATES.map((identity, index) => hall.stand(identity, { skewMs: index * 77_777 }));
    const story: string[] = [];
    for (let step = 0; step < MISFORTUNES; step++) {
      await hall.clock.advance(random.below(10_000));
      story.push(befall(random, hall, candidates));
    }
    await hall.clock.advance(20_000);
    assert.deepEqual(hall.violations, [], `seed ${seed}, round ${round}: ${story.join(", ")}`);

    for (const { process } of candidates) {
      if (process.state === "frozen") process.thaw();
      process.network = "connected";
    }
    await hall.clock.advance(40_000);
    const leading = candidates.filter(({ election }) => election.isLeading());
    assert.equal(leading.length, 1, `seed ${seed}, round ${round}: ${story.join(", ")}`);
    assert.equal((await hall.client.get(leases, LEASE)).spec?.holderIdentity, leading[0]?.identity);
  }
});
