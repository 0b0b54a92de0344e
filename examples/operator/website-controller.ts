/**
 * Maintains for every Website a page, a Deployment, a Service and, if it has a host, an Ingress. A pass reads the current state (`read`),
 * plans (website.ts), acts (`write`) and updates the status. It keeps no state: whichever events are lost, duplicated or late, the next
 * pass starts from the current state.
 *
 * The Website owns the created objects, so the garbage collector deletes them with it.
 */
import { isReason, type Draft, type KubeObject, type Reader } from "k8ts/client";
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

/** Retry interval while a name is taken: the other object is not watched, so its deletion goes unnoticed. */
const TAKEN_RETRY_MS = 60_000;

const itsWebsite = itsController(configMaps);

export const websiteController = defineController({
  name: "website-controller",
  account: "website-operator",
  rules: [
    { apiGroups: [""], resources: ["configmaps", "services"], verbs: ["get", "list", "watch", "create", "update", "patch", "delete"] },
    { apiGroups: ["apps"], resources: ["deployments"], verbs: ["get", "list", "watch", "create", "patch", "delete"] },
    { apiGroups: ["networking.k8s.io"], resources: ["ingresses"], verbs: ["get", "list", "watch", "create", "patch", "delete"] },
    // Owner references block the owner's deletion; clusters with OwnerReferencesPermissionEnforcement require this permission.
    { apiGroups: [""], resources: ["configmaps/finalizers"], verbs: ["update"] },
    { apiGroups: [""], resources: ["events"], verbs: ["create", "patch"] },
  ],
  watches: [watch(configMaps, websiteOrPage), watch(deployments, itsWebsite), watch(services, itsWebsite), watch(ingresses, itsWebsite)],
  reconcile,
});

/** A ConfigMap may be a Website, a former Website, or the page of one. */
function* websiteOrPage(change: Change, read: Reader): Iterable<WorkKey> {
  const { object, previous } = change;
  if (isWebsite(object) || (previous !== undefined && isWebsite(previous))) yield keyOf(object);
  yield* itsWebsite(change, read);
}

async function reconcile(key: WorkKey, pass: Pass): Promise<Outcome> {
  const website = pass.read.get(configMaps, key);
  // The garbage collector deletes its dependents.
  if (website === undefined || website.metadata.deletionTimestamp !== undefined) return onChange;
  const found = partsOwnedBy(website, pass.read);
  if (!isWebsite(website)) {
    // The label was removed: it is an ordinary ConfigMap now.
    await applySteps(plan([], found), website, pass);
    return onChange;
  }
  const spec = readSpec(website);
  if ("problems" in spec) {
    // A retry would not help: fixing the spec triggers a new pass. Existing objects stay as they are.
    await report(website, { ready: "False", reason: "InvalidSpec", message: spec.problems.join("; ") }, pass);
    return onChange;
  }
  const wanted = partsOf(website, spec);
  const taken = wanted.find((one) => isTaken(one, found, pass.read));
  if (taken !== undefined) {
    const message = `${taken.object.kind} ${taken.object.metadata.name} already exists and does not belong to this Website`;
    await report(website, { ready: "False", reason: "NameTaken", message }, pass);
    return after(TAKEN_RETRY_MS);
  }
  try {
    await applySteps(plan(wanted, found), website, pass);
  } catch (error) {
    if (!isReason(error, "Invalid")) throw error;
    await report(website, { ready: "False", reason: "Refused", message: error.message }, pass);
    return onChange;
  }
  // `read` shows the writes of this pass.
  await report(website, statusOf(spec, pass.read.get(deployments, key)), pass);
  return onChange;
}

// ── observe ─────────────────────────────────────────────────────────────────────────────────────────

function partsOwnedBy(website: Website, read: Reader): readonly Part[] {
  return PART_KINDS.flatMap((kind) => read.controlledBy(kind, website).map((object) => ({ kind, object })));
}

/** True if another object has the name. Objects of other owners are never touched. */
function isTaken({ kind, object }: WantedPart, found: readonly Part[], read: Reader): boolean {
  const { name = "", namespace } = object.metadata;
  const there = read.get(kind, { namespace, name });
  return there !== undefined && !found.some((one) => one.object === there);
}

// ── act ─────────────────────────────────────────────────────────────────────────────────────────────

/** Sequentially, in the order of the plan, so that the page exists before the Pods mount it. */
async function applySteps(steps: readonly Step[], website: Website, pass: Pass): Promise<void> {
  for (const step of steps) {
    const done = await applyStep(step, website, pass);
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

async function applyStep(step: Step, website: Website, { write }: Pass): Promise<KubeObject> {
  switch (step.is) {
    case "create":
      return await write.create(step.kind, withMetadata(step.wanted, { ownerReferences: [controlledBy(website)] }));
    case "change": {
      const { uid, resourceVersion } = step.found.metadata;
      // Sets the desired fields only. If the object has changed since it was read, the patch fails with a Conflict, and the next pass
      // reads it again.
      const value = withMetadata(step.wanted, { uid, resourceVersion });
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

/** Writes the status only if it differs, and emits one event: a status written in every pass would trigger another pass every time. */
async function report(website: Website, status: WebsiteStatus, { write, events, clock }: Pass): Promise<void> {
  const updated = withStatus(website, status, clock.now());
  if (updated === website) return;
  await write.update(configMaps, updated);
  const { reason, message } = status;
  if (website.metadata.annotations?.[STATUS_ANNOTATIONS.reason] === reason) return;
  const isFine = reason === "AllReady" || reason === "Progressing";
  events.record(website, { type: isFine ? "Normal" : "Warning", reason, message, action: "Reconcile" });
}
