/**
 * Keeps for every Website a page, a Deployment, a Service and, if it has a host, an Ingress. A pass looks at what is (`read`), plans
 * (website.ts), does what is missing (`write`) and tells how it is. It remembers nothing: whatever is lost, doubled or late, the next
 * pass starts from what is.
 *
 * What it makes is owned by the Website, so that the garbage collector removes it when the Website goes.
 */
import { isReason, type Draft, type Json, type KubeObject, type Reader } from "k8ts/client";
import {
  after,
  controlledBy,
  defineController,
  itsController,
  keyOf,
  onChange,
  watch,
  type Change,
  type Outcome,
  type Pass,
  type WorkKey,
} from "k8ts/controllers";
import { configMaps, deployments, ingresses, services } from "k8ts/kinds";
import {
  isWebsite,
  PART_KINDS,
  partsOf,
  plan,
  readSpec,
  statusOf,
  STATUS_ANNOTATIONS,
  withStatus,
  type Part,
  type Step,
  type WantedPart,
  type Website,
  type WebsiteStatus,
} from "./website.ts";

/** A name that somebody else has is asked for again so often: nobody tells us when they give it up. */
const TAKEN_RETRY_MS = 60_000;

const itsWebsite = itsController(configMaps);

export const websiteController = defineController({
  name: "website-controller",
  account: "website-operator",
  rules: [
    { apiGroups: [""], resources: ["configmaps", "services"], verbs: ["get", "list", "watch", "create", "update", "patch", "delete"] },
    { apiGroups: ["apps"], resources: ["deployments"], verbs: ["get", "list", "watch", "create", "patch", "delete"] },
    { apiGroups: ["networking.k8s.io"], resources: ["ingresses"], verbs: ["get", "list", "watch", "create", "patch", "delete"] },
    // What is made holds up the deletion of its owner; some clusters ask whether one may do that.
    { apiGroups: [""], resources: ["configmaps/finalizers"], verbs: ["update"] },
    { apiGroups: [""], resources: ["events"], verbs: ["create", "patch"] },
  ],
  watches: [watch(configMaps, websiteOrPage), watch(deployments, itsWebsite), watch(services, itsWebsite), watch(ingresses, itsWebsite)],
  reconcile,
});

/** A ConfigMap may be a Website, have been one, or be the page of one. */
function* websiteOrPage(change: Change, read: Reader): Iterable<WorkKey> {
  const { object, previous } = change;
  if (isWebsite(object) || (previous !== undefined && isWebsite(previous))) yield keyOf(object);
  yield* itsWebsite(change, read);
}

async function reconcile(key: WorkKey, pass: Pass): Promise<Outcome> {
  const website = pass.read.get(configMaps, key);
  // What it owned is the garbage collector's.
  if (website === undefined || website.metadata.deletionTimestamp !== undefined) return onChange;
  const found = partsOwnedBy(website, pass.read);
  if (!isWebsite(website)) {
    // Somebody took the label away: it is an ordinary ConfigMap now.
    await carryOut(plan([], found), website, pass);
    return onChange;
  }
  const spec = readSpec(website);
  if ("problems" in spec) {
    // Trying again would not help: whoever mends it wakes us. What there is stays as it was.
    await report(website, { ready: "False", reason: "InvalidSpec", message: spec.problems.join("; ") }, pass);
    return onChange;
  }
  const wanted = partsOf(website, spec);
  const taken = wanted.find((one) => isTaken(one, found, pass.read));
  if (taken !== undefined) {
    const message = `There is a ${taken.object.kind} ${taken.object.metadata.name} already that is not of this Website`;
    await report(website, { ready: "False", reason: "NameTaken", message }, pass);
    return after(TAKEN_RETRY_MS);
  }
  try {
    await carryOut(plan(wanted, found), website, pass);
  } catch (error) {
    if (!isReason(error, "Invalid")) throw error;
    await report(website, { ready: "False", reason: "Refused", message: error.message }, pass);
    return onChange;
  }
  // `read` shows what has just been written.
  await report(website, statusOf(spec, pass.read.get(deployments, key)), pass);
  return onChange;
}

// ── observe ─────────────────────────────────────────────────────────────────────────────────────────

function partsOwnedBy(website: Website, read: Reader): readonly Part[] {
  return PART_KINDS.flatMap((kind) => read.controlledBy(kind, website).map((object) => ({ kind, object })));
}

/** Nothing of others is touched, whatever its name is. */
function isTaken({ kind, object }: WantedPart, found: readonly Part[], read: Reader): boolean {
  const { name = "", namespace } = object.metadata;
  const there = read.get(kind, { namespace, name });
  return there !== undefined && !found.some((one) => one.object === there);
}

// ── act ─────────────────────────────────────────────────────────────────────────────────────────────

/** One after the other, in the order of the plan, so that pods find their page. */
async function carryOut(steps: readonly Step[], website: Website, pass: Pass): Promise<void> {
  for (const step of steps) {
    const done = await carryOutOne(step, website, pass);
    pass.events.record(website, {
      type: "Normal",
      ...DONE[step.is],
      message: `${DONE[step.is].reason} ${done.kind} ${done.metadata.name}`,
    });
  }
}

const DONE = {
  create: { reason: "Created", action: "Create" },
  change: { reason: "Changed", action: "Change" },
  delete: { reason: "Deleted", action: "Delete" },
} as const;

async function carryOutOne(step: Step, website: Website, { write }: Pass): Promise<KubeObject> {
  switch (step.is) {
    case "create":
      return await write.create(step.kind, withMetadata(step.wanted, { ownerReferences: [controlledBy(website)] }));
    case "change": {
      const { uid, resourceVersion } = step.found.metadata;
      // Says what is to be so and leaves the rest alone. If it is not the one that was looked at any more, that is a Conflict, and the next
      // pass looks again.
      const value = withMetadata(step.wanted, { uid, resourceVersion }) as unknown as Json;
      return await write.patch(step.kind, keyOf(step.found), { type: "merge", value });
    }
    case "delete": {
      const { uid = "" } = step.found.metadata;
      await write.delete(step.kind, keyOf(step.found), { preconditions: { uid } });
      return step.found;
    }
  }
}

function withMetadata(object: Draft<KubeObject>, more: object): Draft<KubeObject> {
  return { ...object, metadata: { ...object.metadata, ...more } };
}

// ── report ──────────────────────────────────────────────────────────────────────────────────────────

/** Writes only what differs, and tells of it once: a status that is written again and again would wake us again and again. */
async function report(website: Website, status: WebsiteStatus, { write, events, clock }: Pass): Promise<void> {
  const told = withStatus(website, status, clock.now());
  if (told === website) return;
  await write.update(configMaps, told);
  const { reason, message } = status;
  if (website.metadata.annotations?.[STATUS_ANNOTATIONS.reason] === reason) return;
  const isFine = reason === "AllReady" || reason === "Progressing";
  events.record(website, { type: isFine ? "Normal" : "Warning", reason, message, action: "Reconcile" });
}
