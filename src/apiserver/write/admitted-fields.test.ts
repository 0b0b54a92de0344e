import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../api/machinery/object.ts";
import type { AdmissionPlugin } from "../framework/admission.ts";
import { leaseLeadership } from "../shared/lease-leadership.ts";
import { MaxInFlight } from "../limits/max-in-flight.ts";
import { RequestMetrics } from "../pipeline/request-metrics.ts";
import { Pipeline } from "../pipeline/pipeline.ts";
import type { ApiRequest } from "../framework/request.ts";
import { admittingContext } from "../testing/admitting-server.ts";
import { Verbs } from "../verbs/verbs.ts";
import { WatchRegistry } from "../watch/watch-registry.ts";

const LABELS: AdmissionPlugin = {
  name: "labels",
  mutate({ object, operation }) {
    if (object === undefined) return undefined;
    return { ...object, metadata: { ...object.metadata, labels: { ...object.metadata.labels, [operation]: "added" } } };
  },
};

test("fields that an admission plugin adds have no owner, in a create and in an update", async () => {
  const server = admittingContext({ plugins: [LABELS] });
  const pipeline = new Pipeline(server, new Verbs(server, new WatchRegistry(server.clock, { started() {}, ended() {}, event() {} })), {
    metrics: new RequestMetrics(),
    gate: new MaxInFlight({ readOnly: 100, mutating: 100 }),
    checkLeadership: leaseLeadership(server.objects),
  });
  const write = async (asked: Pick<ApiRequest, "verb" | "name">, object: JsonObject) => {
    const place = { group: "", version: "v1", plural: "configmaps", subresource: "", namespace: "default" };
    const context = { user: { name: "admin", groups: ["system:masters"] }, userAgent: "test", warn() {} };
    const outcome = await pipeline.run({ ...place, ...asked, options: {}, body: { form: "object", object }, context });
    assert(outcome.is === "object");
    return { labels: Object.keys(outcome.object.object.metadata.labels ?? {}), fields: outcome.object.managed().text() };
  };

  const created = await write({ verb: "create", name: "" }, { metadata: { name: "a" }, data: { x: "1" } });
  const updated = await write({ verb: "update", name: "a" }, { metadata: { name: "a", labels: { CREATE: "added" } }, data: { y: "2" } });

  assert.deepEqual([created.labels, updated.labels], [["CREATE"], ["CREATE", "UPDATE"]]);
  assert.match(created.fields, /f:x/);
  assert.match(updated.fields, /f:y/);
  assert.doesNotMatch(created.fields + updated.fields, /f:labels/);
});
