/**
 * Conversion of custom resources by a webhook (strategy Webhook): sends the objects of another version in one ConversionReview, and checks
 * the response as upstream does: the webhook may change everything except the identity and the metadata of an object, of which only labels
 * and annotations are taken over. Not here: how often it is called (framework/storage/prepared-objects.ts converts an object once).
 */
import type { CustomResourceDefinition, WebhookConversion } from "../../api/generated/apiextensions.k8s.io/v1.ts";
import { versionCoercer } from "../../api/apiextensions.k8s.io/v1/custom-resource/conversion.ts";
import { apiVersionOf, isObject, parseApiVersion, type Json, type JsonObject, type KubeObject } from "../../api/machinery/object.ts";
import type { Conversion } from "../../api/machinery/resource.ts";
import { StatusError } from "../../api/machinery/status-error.ts";
import { schemaOf } from "../../api/schemas.ts";
import type { WebhookCaller } from "../framework/webhook-caller.ts";
import type { Clock } from "../../base/clock.ts";
import { decodeReviewAs, reviewType } from "../shared/webhook-review/decode-review.ts";
import type { ConversionFailure, ConversionMetrics } from "./conversion-metrics.ts";
import { convertedObject } from "./converted-object.ts";

/** Clients wait for a conversion, and give up after a minute. */
const CONVERSION_TIMEOUT_MS = 30_000;

const REVIEW_GROUP = "apiextensions.k8s.io";
const REVIEW_VERSIONS = ["v1", "v1beta1"];
const REVIEW_KIND = "ConversionReview";

export interface WebhookConversionOptions {
  readonly webhooks: WebhookCaller;
  readonly metrics: ConversionMetrics;
  readonly clock: Clock;
  newUid(): string;
}

export function webhookConversion(
  { metadata, spec }: CustomResourceDefinition,
  webhook: WebhookConversion,
  { webhooks, metrics, clock, newUid }: WebhookConversionOptions,
): Conversion {
  const coerce = versionCoercer(spec);
  return {
    convert(objects, toVersion) {
      const apiVersion = apiVersionOf({ group: spec.group, version: toVersion });
      const others = objects.filter((object) => object.apiVersion !== apiVersion);
      const [first] = others;
      if (first === undefined) return objects;
      const review = { webhooks, webhook, uid: newUid(), desiredAPIVersion: apiVersion, objects: others };
      const startMs = clock.monotonic();
      const observe = (failure?: ConversionFailure): void => {
        const fromVersion = parseApiVersion(first.apiVersion)?.version ?? "";
        metrics.observe({ definition: metadata.name, fromVersion, toVersion, failure, durationMs: clock.monotonic() - startMs });
      };
      return callWebhook(review, first).then(
        (converted) => {
          observe();
          const next = converted.values();
          return objects.map((object) => (object.apiVersion === apiVersion ? object : coerce(next.next().value as KubeObject)));
        },
        (error: unknown) => {
          observe(error instanceof ConversionError ? error.failure : "conversion_webhook_call_failure");
          throw error;
        },
      );
    },
  };
}

class ConversionError extends StatusError {
  readonly failure: ConversionFailure;

  constructor(failure: ConversionFailure, message: string, cause?: unknown) {
    super("Unknown", message, cause === undefined ? {} : { cause });
    this.failure = failure;
  }
}

interface Review {
  readonly webhooks: WebhookCaller;
  readonly webhook: WebhookConversion;
  readonly uid: string;
  readonly desiredAPIVersion: string;
  readonly objects: readonly KubeObject[];
}

/** Rejects with a ConversionError. The message names the type of the first object, as upstream. */
async function callWebhook(review: Review, { apiVersion, kind }: KubeObject): Promise<readonly KubeObject[]> {
  const type = `${apiVersion}, Kind=${kind}`;
  const { webhooks, webhook, objects } = review;
  const fail = (failure: ConversionFailure, what: string, error?: unknown) =>
    new ConversionError(failure, `conversion webhook for ${type} ${what}`, error);
  let converted: readonly Json[];
  let failure: ConversionFailure = "conversion_webhook_call_failure";
  try {
    const version = webhook.conversionReviewVersions.find((each) => REVIEW_VERSIONS.includes(each));
    if (version === undefined) throw new Error("no supported conversion review versions");
    const { clientConfig = {} } = webhook;
    const call = { client: clientConfig, body: bodyOf(review, version), timeoutMs: CONVERSION_TIMEOUT_MS, sendsTimeout: true };
    const answer = decodeReviewAs(await webhooks.call(call), { group: REVIEW_GROUP, version, kind: REVIEW_KIND }, RESPONSE);
    failure = "conversion_webhook_malformed_response_failure";
    converted = convertedObjects(answer, version, review.uid);
  } catch (error) {
    throw fail(failure, `failed: ${messageOf(error)}`, error);
  }
  if (converted.length !== objects.length) {
    throw fail("conversion_webhook_partial_response_failure", `returned ${converted.length} objects, expected ${objects.length}`);
  }
  const isOne = objects.length === 1;
  return objects.map((original, index) => {
    const returned = { original, converted: converted[index] ?? null, apiVersion: review.desiredAPIVersion };
    const result = convertedObject({ ...returned, index: isOne ? undefined : index });
    if (!result.ok) throw fail("conversion_webhook_invalid_converted_object_failure", result.what);
    return result.object;
  });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function bodyOf({ uid, desiredAPIVersion, objects }: Review, version: string): JsonObject {
  return { kind: REVIEW_KIND, apiVersion: `${REVIEW_GROUP}/${version}`, request: { uid, desiredAPIVersion, objects } };
}

const RESPONSE = reviewType(REVIEW_KIND, {
  kind: { type: "string" },
  apiVersion: { type: "string" },
  response: reviewType("ConversionResponse", {
    uid: { type: "string" },
    convertedObjects: { type: "list", items: { type: "any", format: "raw-extension" }, listType: "atomic" },
    result: schemaOf("io.k8s.apimachinery.pkg.apis.meta.v1.Status"),
  }),
});

/** Throws an error with upstream's message. Reviews of v1beta1 are checked less, as upstream. */
function convertedObjects(review: JsonObject, version: string, uid: string): readonly Json[] {
  const { response } = review;
  if (version === "v1") checkType(review);
  if (!isObject(response)) throw new Error("no response provided");
  if (version === "v1" && response["uid"] !== uid) {
    throw new Error(`expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(response["uid"] ?? "")}`);
  }
  const { status = "", message = "" } = (response["result"] ?? {}) as { readonly status?: string; readonly message?: string };
  if (status !== "Success") throw new Error(message === "" ? `response.result.status was '${status}', not 'Success'` : message);
  return (response["convertedObjects"] ?? []) as readonly Json[];
}

function checkType({ apiVersion = "", kind = "" }: JsonObject): void {
  const expected = `${REVIEW_GROUP}/v1`;
  if (apiVersion === expected && kind === REVIEW_KIND) return;
  const found = apiVersion === "" ? "/" : (apiVersion as string);
  throw new Error(`expected webhook response of ${expected}, Kind=${REVIEW_KIND}, got ${found}, Kind=${kind as string}`);
}
