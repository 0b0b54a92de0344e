/** Starts a Job of a CronJob now, as `kubectl create job --from` does. */
import type { JsonObject } from "../../../api/machinery/object.ts";
import { field } from "../fields.ts";
import { findKind, pathOf } from "../kinds.ts";
import type { Action } from "./action.ts";

/** Job names have at most 63 characters. */
const NAME_MAX = 63;

export const trigger: Action = {
  title: "Run now",
  kinds: ["cronjobs.batch"],
  needs: (_kind, { metadata: { namespace = "" } }) => ({ verb: "create", group: "batch", resource: "jobs", namespace }),
  async run({ api, kinds, object, clock }) {
    const jobs = findKind(kinds, "jobs", "batch");
    if (jobs === undefined) throw new Error("The cluster serves no Jobs.");
    const { name, namespace = "", uid = "" } = object.metadata;
    const suffix = `-manual-${Math.floor(clock.now() / 1_000).toString(36)}`;
    const job: JsonObject = {
      apiVersion: "batch/v1",
      kind: "Job",
      metadata: {
        name: `${name.slice(0, NAME_MAX - suffix.length)}${suffix}`,
        annotations: { "cronjob.kubernetes.io/instantiate": "manual" },
        labels: (field(object, "spec", "jobTemplate", "metadata", "labels") ?? {}) as JsonObject,
        ownerReferences: [{ apiVersion: object.apiVersion, kind: object.kind, name, uid, controller: true }],
      },
      spec: field(object, "spec", "jobTemplate", "spec") as JsonObject,
    };
    const created = await api.post(pathOf(jobs, { namespace }), job);
    return `Started Job ${String(field(created, "metadata", "name"))}.`;
  },
};
