import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import type { PersistentVolume, PersistentVolumeClaim } from "../../../api/generated/core/v1.ts";
import { VirtualClock } from "../../../base/virtual-clock.ts";
import { realMacrotask } from "../../../host/real-clock.ts";
import { InfeasibleVolumeError, VolumeError } from "../../volumes/framework/volume-error.ts";
import { VolumeExpansion } from "./volume-expansion.ts";

const ANY = new AbortController().signal;
const PROGRESS = "NodeResizeInProgress";

/** A claim of 1Gi whose volume a controller has grown to 9Gi; `requested` is what its user wants by now. */
function startCase({ phase, requested = "9Gi" }: { readonly phase?: string; readonly requested?: string }) {
  const volume: PersistentVolume = {
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: { name: "pv" },
    spec: { capacity: { storage: "9Gi" } },
  };
  const all = {
    claim: {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { name: "c" },
      spec: { resources: { requests: { storage: requested } } },
      status: { capacity: { storage: "1Gi" }, ...(phase === undefined ? {} : { allocatedResourceStatuses: { storage: phase } }) },
    } as PersistentVolumeClaim,
    /** What the driver answers. */
    fails: undefined as Error | undefined,
    isRegistered: true,
    /** Tries to grow it, and returns phase, conditions and capacity. */
    async try() {
      const plugin = {
        directory: "kubernetes.io~csi",
        resolve: async () => {
          if (!all.isRegistered) throw new VolumeError("driver not found");
        },
        expand: async () => {
          if (all.fails !== undefined) throw all.fails;
        },
      };
      const podVolume = { persistent: { claim: all.claim, volume }, volumeName: "pv", pod: {}, volume: { name: "v" } };
      await expansion.expandIfDue({ plugin, podVolume } as never, ANY).catch(() => undefined);
      const { allocatedResourceStatuses, conditions = [], capacity } = all.claim.status ?? {};
      return [allocatedResourceStatuses?.["storage"], conditions.map(({ type, message }) => `${type}: ${message}`), capacity?.["storage"]];
    },
  };
  const expansion = new VolumeExpansion({
    node: { nodeName: "n" } as never,
    writeStatus: async (claim) => (all.claim = claim),
    record: () => undefined,
    timed: (_operation, _name, run) => run(),
    clock: new VirtualClock({ macrotask: realMacrotask }),
  });
  return all;
}

test("a failed growth is reported to the controller, and once more succeeds", async () => {
  const all = startCase({ phase: "NodeResizePending" });
  all.fails = new VolumeError("busy");

  deepEqual(await all.try(), [PROGRESS, ["NodeResizeError: failed to expand pvc with busy"], "1Gi"]);
  all.fails = undefined;
  deepEqual(await all.try(), [undefined, [], "9Gi"]);
});

test("a size that the driver can never provide is infeasible, and not tried again", async () => {
  const all = startCase({ phase: PROGRESS });
  all.fails = new InfeasibleVolumeError("too large");

  const first = await all.try();
  all.fails = undefined;

  deepEqual(first, ["NodeResizeInfeasible", ["NodeResizeError: failed to expand pvc with too large"], "1Gi"]);
  deepEqual(await all.try(), first);
});

test("a growth that fails repeatedly is infeasible if the user wants another size by now", async () => {
  for (const [requested, phase] of [
    ["5Gi", "NodeResizeInfeasible"],
    ["9Gi", PROGRESS],
  ] as const) {
    const all = startCase({ phase: PROGRESS, requested });
    all.fails = new VolumeError("busy");
    deepEqual([(await all.try())[0], (await all.try())[0]], [PROGRESS, phase]);
  }
});

test("nothing is reported if the driver is absent, or if the controller knows no phases", async () => {
  const absent = startCase({ phase: PROGRESS });
  absent.isRegistered = false;
  deepEqual(await absent.try(), [PROGRESS, [], "1Gi"]);
  const old = startCase({});
  old.fails = new VolumeError("busy");
  deepEqual(await old.try(), [undefined, [], "1Gi"]);
});
