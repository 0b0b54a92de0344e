/**
 * Evaluations per second of rules as custom resources and policies have them, on an object of a Deployment's size, and compilations per
 * second. Baseline: the same checks written in JavaScript.
 */
import { compile } from "../../src/cel/compile.ts";
import { createEnvironment } from "../../src/cel/environment.ts";
import { DYN } from "../../src/cel/types/type.ts";
import { dynValue } from "../../src/cel/values/json.ts";
import type { Benchmark } from "../benchmark.ts";
import { figureOf } from "../figure.ts";

const EVALUATIONS = 50_000;
const COMPILATIONS = 2_000;

const OBJECT = {
  metadata: { name: "web", labels: { app: "web", tier: "front" } },
  spec: {
    replicas: 3,
    template: {
      spec: {
        containers: [
          { name: "a", image: "example.com/a:1", resources: { limits: { memory: "128Mi" } } },
          { name: "b", image: "example.com/b:2", resources: { limits: { memory: "1Gi" } } },
        ],
      },
    },
  },
};

interface Rule {
  readonly name: string;
  readonly expression: string;
  readonly baseline: (object: typeof OBJECT) => boolean;
}

const RULES: readonly Rule[] = [
  { name: "comparison", expression: "object.spec.replicas <= 5", baseline: (object) => object.spec.replicas <= 5 },
  {
    name: "quantifier",
    expression: "object.spec.template.spec.containers.all(c, c.image.startsWith('example.com/') && has(c.resources.limits))",
    baseline: (object) => object.spec.template.spec.containers.every((c) => c.image.startsWith("example.com/") && "limits" in c.resources),
  },
  {
    name: "pattern",
    expression: "object.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",
    baseline: (object) => /^[a-z]([-a-z0-9]*[a-z0-9])?$/.test(object.metadata.name),
  },
];

const environment = createEnvironment({ variables: { object: DYN } });

function perSecond(count: number, work: () => unknown): number {
  const start = performance.now();
  for (let index = 0; index < count; index++) work();
  return (count * 1_000) / (performance.now() - start);
}

export const extensionCel: Benchmark = {
  name: "extension/cel",
  measures: "evaluations/s and compilations/s of expressions, beside the same checks in JavaScript",
  async *run({ rounds }) {
    for (const { name, expression, baseline } of RULES) {
      const compilation = compile(environment, expression);
      if (!compilation.ok) throw new Error(`Cannot compile ${expression}: ${compilation.message}`);
      const { program } = compilation;
      const measured = await rounds.measure({
        javascript: () => Promise.resolve(perSecond(EVALUATIONS, () => baseline(OBJECT))),
        cel: () => Promise.resolve(perSecond(EVALUATIONS, () => program.evaluate({ object: dynValue(OBJECT) }))),
        compiled: () => Promise.resolve(perSecond(COMPILATIONS, () => compile(environment, expression))),
      });
      yield figureOf({ name: `extension/cel-${name}`, unit: "evaluations/s", values: measured.cel, baselines: measured.javascript });
      yield figureOf({ name: `extension/cel-${name}-compiled`, unit: "compilations/s", values: measured.compiled });
    }
  },
};
