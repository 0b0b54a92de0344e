import { deepEqual, ok } from "node:assert/strict";
import { test } from "node:test";
import { buildPod } from "../../../api/testing/pod.ts";
import { virtualClock } from "../../../testing/virtual-clock.ts";
import { VolumeImageError } from "../../volumes/framework/volume-error.ts";
import { volumeImages } from "./volume-images.ts";

const POD = buildPod({ metadata: { name: "p" } });
const SIGNAL = new AbortController().signal;
const PRESENT = { names: [], sizeBytes: 7 };

/** The image "here:1" is present, "there:1" can be pulled. */
function images(events: string[]) {
  const pulled = new Set(["here:1"]);
  const all = volumeImages({
    runtime: {
      imageStatus: async (reference) => (pulled.has(reference) ? { ...PRESENT, id: `id of ${reference}` } : undefined),
      async pullImage(reference) {
        if (reference === "gone:1") throw new Error("no such image");
        pulled.add(reference);
        return `id of ${reference}`;
      },
      imageViews: { view: async () => [], remove: async () => undefined },
    },
    credentials: async () => [],
    record: (_, { type, reason, message }) => void events.push(`${type} ${reason} ${message}`),
    clock: virtualClock(),
  });
  ok(all !== undefined);
  return all;
}

const HERE = 'Normal Pulled Container image "here:1" already present on machine and can be accessed by the pod';
const PULLED = 'Normal Pulled Successfully pulled image "there:1" in 0s (0s including waiting). Image size: 7 bytes.';
const GONE = "ErrImagePull: no such image";

for (const { reference, pullPolicy, answer, events } of [
  { reference: "here:1", pullPolicy: "IfNotPresent", answer: "id of here:1", events: [HERE] },
  { reference: "here:1", pullPolicy: "Never", answer: "id of here:1", events: [HERE] },
  { reference: "there:1", pullPolicy: "Always", answer: "id of there:1", events: ['Normal Pulling Pulling image "there:1"', PULLED] },
  { reference: "gone:1", pullPolicy: "IfNotPresent", answer: GONE, events: ['Normal Pulling Pulling image "gone:1"'] },
  {
    reference: "gone:1",
    pullPolicy: "Never",
    answer: 'ErrImageNeverPull: Container image "gone:1" is not present with pull policy of Never',
    events: [],
  },
  {
    reference: "Not A Name",
    pullPolicy: "Always",
    answer: 'InvalidImageName: Failed to apply default image tag "Not A Name"',
    events: [],
  },
] as const) {
  test(`the image ${reference} of a volume with the pull policy ${pullPolicy} has upstream's events and reasons`, async () => {
    const recorded: string[] = [];
    const outcome = await images(recorded)
      .ensure(POD, { reference, pullPolicy }, SIGNAL)
      .catch((error: unknown) => (error instanceof VolumeImageError ? `${error.reason}: ${error.message}` : String(error)));

    ok(outcome.startsWith(answer), outcome);
    deepEqual(recorded, events);
  });
}
