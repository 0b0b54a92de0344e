import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { defaultPodTemplate } from "../../api/core/v1/pod/defaults/pod.ts";
import type { ControllerRevision, StatefulSetSpec } from "../../api/generated/apps/v1.ts";
import type { PodTemplateSpec } from "../../api/generated/core/v1.ts";
import { newRevision, planForgetting, planUpdateRevision } from "./revisions.ts";
import { aSet, aTemplate } from "./testing/sets.ts";

const aRevision = (image: string, number: number, template: PodTemplateSpec = aTemplate(image)): ControllerRevision => ({
  ...newRevision(aSet(), template, number, 0),
  metadata: { name: image },
});
const specOf = (template: PodTemplateSpec) => aSet({ template }).spec as StatefulSetSpec;

for (const [title, image, revisions, plan] of [
  ["the first template is the first revision", "a", [], { does: "create", number: 1 }],
  ["an unchanged template is the latest revision", "b", ["a", "b"], { does: "use", name: "b" }],
  ["a new template is a new revision", "c", ["a", "b"], { does: "create", number: 3 }],
  ["a former template is the former revision, with a new number", "a", ["a", "b"], { does: "renumber", name: "a", number: 3 }],
] as const) {
  test(title, () => {
    const history = revisions.map((name, index) => aRevision(name, index + 1));

    const step = planUpdateRevision(specOf(aTemplate(image)), history);

    const { does } = step;
    const name = step.does === "create" ? {} : { name: step.revision.metadata.name };
    const number = step.does === "use" ? {} : { number: step.number };
    deepEqual({ does, ...name, ...number }, plan);
  });
}

test("a revision that lacks only defaults is that of the template", () => {
  const template = defaultPodTemplate(aTemplate());

  const step = planUpdateRevision(specOf(template), [aRevision("written before the default", 1, aTemplate())]);

  equal(step.does, "use");
});

test("a new revision has the template's labels, the set's annotations and owner, and a name by its content", () => {
  const set = aSet();
  const annotated = { ...set, metadata: { ...set.metadata, annotations: { team: "blue" } } };

  const { metadata, revision } = newRevision(annotated, aTemplate(), 4, 0);

  const hash = metadata.labels?.["controller.kubernetes.io/hash"] ?? "";
  equal(metadata.name, `web-${hash}`);
  deepEqual(metadata.labels, { app: "web", "controller.kubernetes.io/hash": hash });
  deepEqual(metadata.annotations, { team: "blue" });
  deepEqual(
    metadata.ownerReferences?.map(({ kind, name, controller }) => ({ kind, name, controller })),
    [{ kind: "StatefulSet", name: "web", controller: true }],
  );
  equal(revision, 4);
});

test("a collision gives a revision another name", () => {
  const names = [0, 1].map((collisionCount) => newRevision(aSet(), aTemplate(), 1, collisionCount).metadata.name);

  equal(new Set(names).size, 2);
});

for (const [limit, forgotten] of [
  [0, ["a", "c"]],
  [1, ["a"]],
  [2, []],
  [-1, []],
] as const) {
  test(`with a limit of ${limit} the unused revisions [${forgotten.join()}] are deleted`, () => {
    const history = ["a", "b", "c", "d", "e"].map((name, index) => aRevision(name, index + 1));

    const plan = planForgetting(history, { current: "d", update: "e", ofPods: new Set(["b"]) }, limit);

    deepEqual(
      plan.map(({ metadata }) => metadata.name),
      forgotten,
    );
  });
}

/** Names that upstream 1.36 computes for the same template, with the collision counts 0 and 1. */
test("revisions have upstream's names", () => {
  const template = defaultPodTemplate({
    metadata: { labels: { app: "web" }, annotations: { note: "ä <b>" } },
    spec: {
      containers: [
        {
          name: "app",
          image: "nginx:1.29",
          command: ["sh", "-c", "a && b > c"],
          ports: [{ containerPort: 80 }],
          resources: { requests: { cpu: "100m", memory: "64Mi" } },
          env: [{ name: "Z", value: "1" }],
        },
      ],
    },
  });

  const names = [0, 1].map((collisionCount) => newRevision(aSet(), template, 1, collisionCount).metadata.name);

  deepEqual(names, ["web-664cbd64dd", "web-664cbd64df"]);
});
