import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import type { ControllerRevision } from "../../../api/generated/apps/v1.ts";
import type { PodTemplateSpec } from "../../../api/generated/core/v1.ts";
import type { Json } from "../../../api/machinery/object.ts";
import { revisionData, revisionText, templateOf, textOf } from "./revision-data.ts";

const TEMPLATE: PodTemplateSpec = {
  metadata: { labels: { app: "web", "10": "x", "9": "y" } },
  spec: { restartPolicy: "Always", containers: [{ name: "app", image: "app:1", command: ["sh", "-c", "a && b > c"] }] },
};

/** As the JSON parser reads a number beyond 2^53. */
const LARGE = 9_007_199_254_740_993n as never;

const aRevision = (data: Json): ControllerRevision => ({
  apiVersion: "apps/v1",
  kind: "ControllerRevision",
  metadata: { name: "web-1" },
  data,
  revision: 1,
});

test("the text of a revision is that of Go's encoder: sorted, and with HTML characters escaped", () => {
  const containers = String.raw`[{"command":["sh","-c","a \u0026\u0026 b \u003e c"],"image":"app:1","name":"app"}]`;
  const spec = `{"containers":${containers},"restartPolicy":"Always"}`;
  const template = `{"$patch":"replace","metadata":{"labels":{"10":"x","9":"y","app":"web"}},"spec":${spec}}`;

  equal(revisionText(TEMPLATE), `{"spec":{"template":${template}}}`);
});

test("a revision has the text of the template that it was created from, and restores that template", () => {
  const revision = aRevision(revisionData(TEMPLATE));

  equal(textOf(revision), revisionText(TEMPLATE));
  deepEqual(templateOf(revision), TEMPLATE);
});

test("members of a revision's data are stored in the order of their names", () => {
  const text = JSON.stringify(revisionData({ spec: { restartPolicy: "Always", containers: [] }, metadata: { name: "a", labels: {} } }));

  equal(
    text,
    `{"spec":{"template":{"$patch":"replace","metadata":{"labels":{},"name":"a"},"spec":{"containers":[],"restartPolicy":"Always"}}}}`,
  );
});

test("large numbers of a template are kept exactly", () => {
  const large = { ...TEMPLATE, spec: { containers: [], activeDeadlineSeconds: LARGE } };

  equal(textOf(aRevision(revisionData(large))), revisionText(large));
});

for (const data of [null, [], "text", {}, { spec: 1 }, { spec: { template: [] } }] satisfies readonly Json[]) {
  test(`a revision with the data ${JSON.stringify(data)} restores nothing`, () => equal(templateOf(aRevision(data)), undefined));
}
