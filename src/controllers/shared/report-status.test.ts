import { deepEqual, rejects } from "node:assert/strict";
import { test } from "node:test";
import { daemonSets } from "../../api/apps/v1/daemon-set.ts";
import type { DaemonSet } from "../../api/generated/apps/v1.ts";
import { conflict } from "../../api/machinery/status-error.ts";
import type { Pass } from "../runtime/controller.ts";
import { conditionsOf, reportStatus } from "./report-status.ts";

const COUNTS = { currentNumberScheduled: 1, numberMisscheduled: 0, desiredNumberScheduled: 1, numberReady: 0 };
const FOREIGN = [{ type: "Checked", status: "True" }];

function aSet(resourceVersion: string, uid = "u"): DaemonSet {
  return { apiVersion: "apps/v1", kind: "DaemonSet", metadata: { name: "agent", namespace: "default", uid, resourceVersion } };
}

/** A server that has changed the object meanwhile. */
function changedTo(fresh: DaemonSet, written: DaemonSet[]): Pass {
  const write = {
    get: () => Promise.resolve(fresh),
    updateStatus(_kind: unknown, object: DaemonSet) {
      if (object.metadata.resourceVersion !== fresh.metadata.resourceVersion) {
        return Promise.reject(conflict({ group: "apps", plural: "daemonsets" }, "agent", "changed"));
      }
      written.push(object);
      return Promise.resolve(object);
    },
  };
  return { write } as never;
}

test("a status is written once more over a change of another client, whose conditions stay", async () => {
  const written: DaemonSet[] = [];
  const fresh = { ...aSet("2"), status: { ...COUNTS, numberReady: 7, conditions: FOREIGN } };

  await reportStatus(daemonSets, aSet("1"), COUNTS, changedTo(fresh, written), conditionsOf);

  deepEqual(written, [{ ...fresh, status: { ...COUNTS, conditions: FOREIGN } }]);
});

test("a status is not written to another object of the same name", async () => {
  const written: DaemonSet[] = [];

  await rejects(reportStatus(daemonSets, aSet("1"), COUNTS, changedTo(aSet("2", "other"), written)), /changed/);

  deepEqual(written, []);
});
