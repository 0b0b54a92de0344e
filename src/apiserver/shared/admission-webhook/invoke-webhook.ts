/**
 * Calls one admission webhook for one request: sends the review, checks the response, and applies the failure policy. What both kinds of
 * webhooks have in common; a mutating one then applies the patch.
 */
import type { Json, JsonObject } from "../../../api/machinery/object.ts";
import { internalError, isStatusError, timeoutError } from "../../../api/machinery/status-error.ts";
import type { WebhookType } from "../../framework/admission/admission-metrics.ts";
import type { AdmissionDependencies, AdmissionRequest } from "../../framework/admission.ts";
import { newUid } from "../../../base/uuid.ts";
import type { AdmittedObjects } from "../admission/admitted-objects.ts";
import { failsOpen } from "../admission/vital-requests.ts";
import { parsePatch, readReview, reviewOf, reviewVersion, type ReviewResponse } from "./admission-review.ts";
import type { WebhookMatch } from "./configured-webhooks.ts";
import { decodeAdmissionReview, type ReviewVersion } from "./decode-admission-review.ts";
import { dryRunUnsupported, WebhookCallError, WebhookDenial } from "./webhook-errors.ts";

export interface Invocation extends WebhookMatch {
  readonly request: AdmissionRequest;
  readonly type: WebhookType;
  /** Position among the webhooks of this kind, and round: part of the keys of audit annotations. */
  readonly index: number;
  readonly round: number;
}

type Dependencies = Pick<AdmissionDependencies, "webhooks" | "metrics" | "clock" | "random" | "log" | "objects">;

export interface AllowedPatch {
  readonly value: Json;
}

/**
 * Returns the patch of a mutating webhook, if it has one. Throws the webhook's denial, or the failure of its call unless that is ignored;
 * both as StatusErrors.
 */
export async function invokeWebhook(
  dependencies: Dependencies,
  invocation: Invocation,
  objects: AdmittedObjects,
): Promise<AllowedPatch | undefined> {
  const { clock, metrics } = dependencies;
  const { hook, request, type } = invocation;
  const { name } = hook.webhook;
  const { operation } = request;
  const startMs = clock.monotonic();
  const called = (code: number, isRejected: boolean) =>
    metrics.webhookCalled({ name, type, operation, code, isRejected, durationMs: clock.monotonic() - startMs });
  try {
    const patch = await callWebhook(dependencies, invocation, objects);
    called(200, false);
    return patch;
  } catch (error) {
    if (error instanceof WebhookCallError) {
      const isIgnored = hook.webhook.failurePolicy === "Ignore" || failsOpen(request, dependencies.objects);
      called(error.code, !isIgnored);
      if (isIgnored) return failOpen(dependencies, invocation, error);
      if (!error.isCanceled) metrics.webhookRejected({ name, type, operation, error: "calling_webhook_error", code: error.code });
      throw internalError(error);
    }
    const denial = error instanceof WebhookDenial ? error.status : undefined;
    const code = denial?.code ?? 0;
    called(code, true);
    metrics.webhookRejected({ name, type, operation, error: denial === undefined ? "apiserver_internal_error" : "no_error", code });
    throw denial ?? error;
  }
}

const FAILED_OPEN = {
  admit: "failed-open.mutation.webhook.admission.k8s.io/",
  validating: "failed-open.validating.webhook.admission.k8s.io/",
};

function failOpen({ metrics, log }: Dependencies, { hook, request, type, index, round }: Invocation, error: WebhookCallError): undefined {
  const { name } = hook.webhook;
  if (!error.isCanceled) {
    const requestID = request.context.trail?.id;
    log.warn("Calling an admission webhook failed, and the failure is ignored", { requestID, webhook: name, error: error.message });
    metrics.webhookFailedOpen({ name, type });
    request.context.trail?.annotate(`${FAILED_OPEN[type]}round_${round}_index_${index}`, name);
  }
  if (request.context.signal?.aborted === true) throw timeoutError("request did not complete within requested timeout");
  return undefined;
}

async function callWebhook(
  dependencies: Dependencies,
  invocation: Invocation,
  objects: AdmittedObjects,
): Promise<AllowedPatch | undefined> {
  const { hook, request, target, type } = invocation;
  const { name, sideEffects, admissionReviewVersions, clientConfig, timeoutSeconds = DEFAULT_TIMEOUT_SECONDS } = hook.webhook;
  if (request.dryRun && sideEffects !== "None" && sideEffects !== "NoneOnDryRun") throw dryRunUnsupported(name);
  const version = reviewVersion(admissionReviewVersions);
  if (version === undefined) throw new WebhookCallError(name, NO_VERSION, { code: 400 });
  const uid = newUid(dependencies.random);
  const answer = await sent(dependencies, invocation, version, {
    client: clientConfig,
    body: reviewOf(version, { request, target, uid, ...objects }),
    timeoutMs: timeoutSeconds * 1_000,
    sendsTimeout: true,
    signal: request.context.signal,
  });
  const response = checked(name, () => readReview(answer, { version, uid, isMutating: type === "admit" }));
  report(invocation, response);
  if (!response.isAllowed) throw new WebhookDenial(name, response.status);
  return patchOf(name, response);
}

const DEFAULT_TIMEOUT_SECONDS = 10;
const NO_VERSION = "could not create admission objects: webhook does not accept known AdmissionReview versions (v1, v1beta1)";

async function sent(
  { webhooks }: Dependencies,
  { hook }: Invocation,
  version: ReviewVersion,
  call: Parameters<Dependencies["webhooks"]["call"]>[0],
): Promise<JsonObject> {
  try {
    return decodeAdmissionReview(await webhooks.call(call), version);
  } catch (error) {
    const code = isStatusError(error) ? error.code : 503;
    const why = error instanceof Error ? error.message : String(error);
    const isCanceled = call.signal?.aborted === true;
    throw new WebhookCallError(hook.webhook.name, `failed to call webhook: ${why}`, { code, cause: error, isCanceled });
  }
}

function checked(name: string, read: () => ReviewResponse): ReviewResponse {
  try {
    return read();
  } catch (error) {
    throw new WebhookCallError(name, `received invalid webhook response: ${(error as Error).message}`, { code: 503, cause: error });
  }
}

function report({ hook, request: { context } }: Invocation, { warnings, auditAnnotations }: ReviewResponse): void {
  for (const [key, value] of Object.entries(auditAnnotations)) context.trail?.annotate(`${hook.webhook.name}/${key}`, value);
  for (const warning of warnings) context.warn(warning);
}

function patchOf(name: string, { patch, patchType }: ReviewResponse): AllowedPatch | undefined {
  if (patch === undefined) return undefined;
  let value: Json;
  try {
    value = parsePatch(patch);
    if (!Array.isArray(value) && value !== null) throw new Error("json: cannot unmarshal object into Go value of type jsonpatch.Patch");
  } catch (error) {
    const why = `received undecodable patch in webhook response: ${(error as Error).message}`;
    throw new WebhookCallError(name, why, { code: 503, cause: error });
  }
  if (value === null || (value as readonly Json[]).length === 0) return undefined;
  if (patchType !== "JSONPatch") throw new WebhookCallError(name, `unsupported patch type "${patchType}"`, { code: 400 });
  return { value };
}
