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

for (const data of [null, [], "text", {}, { spec: 1 }, { spec: { template: [] } }] satisfies readonly Json[]) {
  test(`a revision with the data ${JSON.stringify(data)} restores nothing`, () => equal(templateOf(aRevision(data)), undefined));
}
