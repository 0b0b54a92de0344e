import test from "node:test";
import { configMaps } from "../../api/core/v1/config-map.ts";
import type { DeleteOptions } from "../../client/client.ts";
import { everyStepMayBeTheLast, type Scenario } from "../../testing/every-step.ts";
import { rounds } from "../../testing/rounds.ts";
import { garbageCollectorController } from "./garbage-collector-controller.ts";
import { giveOwners, heldBy, makeMap, ownedBy } from "./testing/owned-maps.ts";

const OPTIONS = { deathsMax: rounds({ quick: 5, full: 1_000 }), disturbedRuns: rounds({ quick: 1, full: 30 }) };

/** An owner of two, one of which owns a third; one has another owner, too, and two block each other. */
function deletionOf(propagationPolicy: NonNullable<DeleteOptions["propagationPolicy"]>): Scenario {
  return {
    objects: [],
    controllers: () => [garbageCollectorController],
    steps: [
      async ({ client }) => {
        const [owner, other] = [await makeMap(client, "owner"), await makeMap(client, "other")];
        const child = await makeMap(client, "child", { owners: [heldBy(owner)] });
        await makeMap(client, "grandchild", { owners: [heldBy(child)] });
        await makeMap(client, "shared", { owners: [heldBy(owner), ownedBy(other)] });
        const one = await makeMap(client, "one", { owners: [heldBy(owner)] });
        const two = await makeMap(client, "two", { owners: [heldBy(one)] });
        await giveOwners(client, one, [heldBy(owner), heldBy(two)]);
      },
      async ({ client }) => {
        await client.delete(configMaps, { namespace: "default", name: "owner" }, { propagationPolicy });
      },
      async ({ client }) => {
        await client.delete(configMaps, { namespace: "default", name: "one" }, { propagationPolicy });
      },
    ],
    restMs: 30_000,
  };
}

for (const policy of ["Background", "Foreground", "Orphan"] as const) {
  test(`a deletion with ${policy} ends in the same state after a crash at any step`, async () => {
    await everyStepMayBeTheLast(deletionOf(policy), OPTIONS);
  });
}
