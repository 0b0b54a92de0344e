/**
 * Compares our strategic merge, with the schemas of the real kinds, with that of the real kubectl. kubectl merges its input unchanged, as
 * our function does; the server's decoding before and after is not part of either.
 */
import fc from "fast-check";
import { deepEqual, equal, ok } from "node:assert/strict";
import { test } from "node:test";
import { needs } from "../testing/needs.ts";
import { patchLocally } from "../testing/fixtures/kubectl-patch.ts";
import { rounds, testSeed } from "../testing/rounds.ts";
import type { JsonObject } from "./machinery/object.ts";
import { applyStrategicMergePatch } from "./machinery/patch/strategic-merge.ts";
import { schemaOf } from "./schemas.ts";
import { mergeCases } from "./testing/strategic-merge-cases.ts";
import { podAndPatch } from "./testing/random-merges.ts";

/** Concurrent kubectl processes: one per core of a small machine. */
const AT_ONCE = 2;

interface Merge {
  readonly title: string;
  readonly schema: string;
  readonly documents: readonly JsonObject[];
  readonly patch: JsonObject;
}

interface Outcome {
  readonly patched: ReadonlyMap<string, unknown>;
  readonly errors: string;
}

function mergeOurselves({ schema, documents, patch }: Merge): Outcome {
  const patched = new Map<string, unknown>();
  const errors: string[] = [];
  for (const document of documents) {
    try {
      const result = applyStrategicMergePatch(document, patch, schemaOf(schema));
      patched.set((result["metadata"] as JsonObject)["name"] as string, result);
    } catch (error) {
      errors.push(sentenceOf(error));
    }
  }
  return { patched, errors: errors.join("\n").trimEnd() };
}

/** The server answers some failures with a general message; the one that kubectl prints is then the cause. */
function sentenceOf(error: unknown): string {
  ok(error instanceof Error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}

async function compareAll(merges: Iterable<Merge>): Promise<void> {
  const waiting = merges[Symbol.iterator]();
  const compareNext = async (): Promise<void> => {
    for (let next = waiting.next(); next.done !== true; next = waiting.next()) await compareOne(next.value);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, compareNext));
}

async function compareOne(merge: Merge): Promise<void> {
  const theirs = await patchLocally("strategic", merge.documents, merge.patch);
  const ours = mergeOurselves(merge);
  const context = `${merge.title}: ${JSON.stringify(merge.patch)}; kubectl printed ${JSON.stringify(theirs.errors)}`;
  deepEqual(ours.patched, theirs.patched, context);
  equal(ours.errors, theirs.errors, context);
}

for (const { schema, documents, patches } of mergeCases) {
  test(`strategic merge patches of ${schema} have the same result as kubectl's`, { ...needs("kubectl") }, async () => {
    await compareAll(Object.entries(patches).map(([title, patch]) => ({ title, schema, documents, patch })));
  });
}

test("random strategic merge patches of random Pods have the same result as kubectl's", { ...needs("kubectl") }, async () => {
  const seed = testSeed();
  const samples = fc.sample(podAndPatch, { seed, numRuns: rounds({ quick: 40, full: 1_000 }) });
  await compareAll(
    samples.map((sample, index) => ({ title: `sample ${index} of seed ${seed}`, schema: "io.k8s.api.core.v1.Pod", ...sample })),
  );
});
