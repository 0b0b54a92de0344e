/**
 * Calls the webhooks of MutatingWebhookConfigurations one after the other, each with the object as the previous ones left it. If one
 * changes the object, all mutating plugins are called once more, and of the webhooks those with reinvocationPolicy IfNeeded that were
 * called before a change. Equivalent to upstream's plugin of this name.
 */
import type { KubeObject } from "../../../api/machinery/object.ts";
import { deepEqual } from "../../../base/deep.ts";
import type { MutatingWebhook } from "../../../api/generated/admissionregistration.k8s.io/v1.ts";
import type { AdmissionDependencies, AdmissionPlugin, AdmissionRequest } from "../../framework/admission.ts";
import { objectBack, objectsFor } from "../../shared/admission/admitted-objects.ts";
import { CalledBefore } from "../../shared/admission/called-before.ts";
import { NAMESPACES } from "../../shared/admission/selected-request.ts";
import { ConfiguredWebhooks, type ConfiguredWebhook, type WebhookMatch } from "../../shared/admission-webhook/configured-webhooks.ts";
import { invokeWebhook } from "../../shared/admission-webhook/invoke-webhook.ts";
import { selectWebhook } from "../../shared/admission-webhook/select-webhook.ts";
import { patchedByWebhook } from "./patched-object.ts";

const NAME = "MutatingAdmissionWebhook";
const CONFIGURATIONS = { group: "admissionregistration.k8s.io", plural: "mutatingwebhookconfigurations" };

export function mutatingAdmissionWebhook(dependencies: AdmissionDependencies): AdmissionPlugin {
  const webhooks = new ConfiguredWebhooks(dependencies);
  return {
    name: NAME,
    async start() {
      await dependencies.objects.load(NAMESPACES);
      await dependencies.objects.follow(CONFIGURATIONS, webhooks);
    },
    mutate(request) {
      const matches = webhooks.matching(request);
      return matches.length === 0 ? undefined : mutate(dependencies, request, matches);
    },
    mutateDelete(request) {
      const matches = webhooks.matching(request);
      return matches.length === 0 ? undefined : mutate(dependencies, request, matches).then(() => undefined);
    },
  };
}

async function mutate(
  dependencies: AdmissionDependencies,
  request: AdmissionRequest,
  matches: readonly WebhookMatch[],
): Promise<KubeObject | undefined> {
  const rounds = CalledBefore.of(request.reinvocation, NAME);
  const isSecondRound = request.reinvocation?.isSecondRound ?? false;
  // Plugins before this one have changed it in the second round.
  if (isSecondRound && !deepEqual(rounds.output, request.object)) rounds.requireAll();
  let current = request;
  for (const [index, match] of matches.entries()) {
    if (!(await selectWebhook(dependencies, { ...match, request: current, type: "admit" }))) continue;
    // A webhook is never called for the first time in the second round.
    if (isSecondRound && !rounds.isRequired(match.hook.id)) continue;
    const changed = await call(dependencies, current, match, { index, round: isSecondRound ? 1 : 0 });
    if (changed !== undefined) {
      current = { ...current, object: changed };
      rounds.requireAll();
      request.reinvocation?.invokeAgain();
    }
    if ((match.hook.webhook as MutatingWebhook).reinvocationPolicy === "IfNeeded") rounds.called(match.hook.id);
  }
  rounds.output = current.object;
  return current.object === request.object ? undefined : current.object;
}

/** undefined: unchanged. */
async function call(
  dependencies: AdmissionDependencies,
  request: AdmissionRequest,
  match: WebhookMatch,
  { index, round }: { readonly index: number; readonly round: number },
): Promise<KubeObject | undefined> {
  const { hook, target } = match;
  const objects = await objectsFor(request, target);
  let patched: ReturnType<typeof patchedByWebhook> | undefined;
  try {
    const patch = await invokeWebhook(dependencies, { ...match, request, type: "admit", index, round }, objects);
    if (patch !== undefined) {
      patched = patchedByWebhook({ webhook: hook.webhook.name, target, object: objects.object }, patch);
      const value = () => JSON.stringify({ ...namesOf(hook), patch: patch.value, patchType: "JSONPatch" });
      request.context.trail?.audit?.annotateRequest(`patch.webhook.admission.k8s.io/round_${round}_index_${index}`, value);
    }
  } finally {
    annotate(request, match, { index, round, isMutated: patched !== undefined });
  }
  return patched === undefined ? undefined : objectBack(request, target, patched);
}

function annotate(
  { context }: AdmissionRequest,
  { hook }: WebhookMatch,
  { index, round, isMutated }: { readonly index: number; readonly round: number; readonly isMutated: boolean },
): void {
  const value = JSON.stringify({ ...namesOf(hook), mutated: isMutated });
  context.trail?.annotate(`mutation.webhook.admission.k8s.io/round_${round}_index_${index}`, value);
}

function namesOf({ configuration, webhook }: ConfiguredWebhook): { readonly configuration: string; readonly webhook: string } {
  return { configuration, webhook: webhook.name };
}
