import { test } from "node:test";
import { deepEqual, rejects } from "node:assert/strict";
import type { Pod } from "../../api/generated/core/v1.ts";
import type { KubeObject } from "../../api/machinery/object.ts";
import { conflict, forbiddenError, notFound, StatusError } from "../../api/machinery/status-error.ts";
import type { Client } from "../../client/client.ts";
import type { Pass } from "../runtime/controller.ts";
import { createPod, deletePod, podDraft } from "./pod-control.ts";
import { buildPod } from "../../api/testing/pod.ts";

const PODS = { group: "", plural: "pods" };
const POD: Pod = buildPod({ metadata: { name: "web-1", namespace: "default", uid: "p1" } });

const OWNER: KubeObject = { apiVersion: "apps/v1", kind: "ReplicaSet", metadata: { name: "web", namespace: "default", uid: "o1" } };

/** A reconciliation with a scripted server, and its recorded events. */
function passWith(write: Partial<Client>, signal = new AbortController().signal): { readonly pass: Pass; readonly events: string[] } {
  const events: string[] = [];
  const record: Pass["events"]["record"] = (_about, { type, reason, message }) => void events.push(`${type} ${reason} ${message}`);
  return { pass: { write, events: { record }, signal } as Pass, events };
}

test("a Pod draft has exactly the template's content", () => {
  deepEqual(podDraft({}, OWNER), {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      generateName: "web-",
      namespace: "default",
      ownerReferences: [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: "web", uid: "o1", controller: true, blockOwnerDeletion: true }],
    },
  });
});

const DRAFT = podDraft({ metadata: { labels: { app: "web" } } }, OWNER);
const TERMINATING = new StatusError("Forbidden", "no", { details: { causes: [{ reason: "NamespaceTerminating" }] } });

for (const { it, error, reported } of [
  {
    it: "a rejection",
    error: forbiddenError(PODS, "web-1", "no"),
    reported: ['Warning FailedCreate Error creating: pods "web-1" is forbidden: no'],
  },
  { it: "a broken connection", error: new Error("cut"), reported: ["Warning FailedCreate Error creating: cut"] },
  { it: "a namespace that is being deleted", error: TERMINATING, reported: [] },
]) {
  test(`when a Pod cannot be created for ${it}, ${reported.length === 0 ? "no event is emitted" : "an event is emitted"} and the error is thrown`, async () => {
    const { pass, events } = passWith({ create: () => Promise.reject(error) });

    await rejects(createPod(DRAFT, OWNER, pass), error);

    deepEqual(events, reported);
  });
}

for (const { it, error, reported, thrown } of [
  { it: "is already deleted", error: notFound(PODS, "web-1"), reported: [], thrown: undefined },
  { it: "was replaced by another of the same name", error: conflict(PODS, "web-1"), reported: [], thrown: undefined },
  {
    it: "cannot be deleted",
    error: forbiddenError(PODS, "web-1", "no"),
    reported: ['Warning FailedDelete Error deleting: pods "web-1" is forbidden: no'],
    thrown: 'unable to delete pods: pods "web-1" is forbidden: no',
  },
]) {
  test(`for a Pod that ${it} ${reported.length === 0 ? "no event is emitted" : "an event is emitted"}`, async () => {
    const { pass, events } = passWith({ delete: () => Promise.reject(error) });

    const deleting = deletePod(POD, OWNER, pass);
    await (thrown === undefined ? deleting : rejects(deleting, { message: thrown }));

    deepEqual(events, reported);
  });
}

test("only the intended Pod is deleted", async () => {
  const calls: unknown[] = [];
  const { pass, events } = passWith({
    delete: (_kind, key, options) => {
      calls.push(key, options);
      return Promise.resolve(undefined);
    },
  });

  await deletePod(POD, OWNER, pass);

  deepEqual(calls, [{ namespace: "default", name: "web-1" }, { preconditions: { uid: "p1" } }]);
  deepEqual(events, ["Normal SuccessfulDelete Deleted pod: web-1"]);
});

test("a stopping controller emits no failure event", async () => {
  const stopped = new Error("stopped");
  const fails = () => Promise.reject(stopped);
  const { pass, events } = passWith({ create: fails, delete: fails }, AbortSignal.abort());

  await rejects(createPod(DRAFT, OWNER, pass), stopped);
  await rejects(deletePod(POD, OWNER, pass), stopped);

  deepEqual(events, []);
});
