/** Routes of snapshots. */
import type { Snapshot } from "../snapshot.ts";
import { readFields, type Fields } from "./fields.ts";
import { nameField } from "./names.ts";
import { defineRoute } from "./route.ts";

const SNAPSHOT = {
  name: { type: "string", required: true, doc: "Its name." },
  resourceVersion: { type: "string", required: true, doc: "Revision of the cluster when it was taken." },
  keys: { type: "integer", min: 0, max: Number.MAX_SAFE_INTEGER, required: true, doc: "Number of keys in its store." },
  now: { type: "string", required: true, doc: "Time of the cluster when it was taken, RFC 3339." },
} as const satisfies Fields;

export const snapshotRoutes = [
  defineRoute({
    method: "GET",
    path: "/v1/snapshots",
    operation: "listSnapshots",
    summary: "Lists the snapshots, which all clusters share.",
    answer: { snapshots: { type: "list", fields: SNAPSHOT, required: true, doc: "The oldest first." } },
    handle: async ({ control }) => ({ snapshots: control.snapshots.list().map(describe) }),
  }),
  defineRoute({
    method: "PUT",
    path: "/v1/snapshots/{snapshot}",
    operation: "takeSnapshot",
    summary: "Takes a snapshot of a cluster: objects, time and nodes. Replaces one of the same name.",
    body: { of: { type: "string", doc: "The cluster. Default: main." } },
    answer: SNAPSHOT,
    async handle({ control, parameters, body }) {
      const { snapshot } = readFields(parameters, { snapshot: { ...nameField, required: true } });
      return describe(await control.takeSnapshot(snapshot, body.of ?? "main"));
    },
  }),
  defineRoute({
    method: "DELETE",
    path: "/v1/snapshots/{snapshot}",
    operation: "deleteSnapshot",
    summary: "Deletes a snapshot. Clusters that were reset to it are not affected.",
    answer: {},
    async handle({ control, parameters }) {
      await control.deleteSnapshot(parameters.snapshot);
      return {};
    },
  }),
];

function describe({ name, revision, keys, nowMs }: Snapshot): object {
  return { name, resourceVersion: String(revision), keys, now: new Date(nowMs).toISOString() };
}
