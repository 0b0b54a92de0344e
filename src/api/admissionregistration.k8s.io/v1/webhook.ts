/**
 * A webhook of a ValidatingWebhookConfiguration or a MutatingWebhookConfiguration: the two differ in `reinvocationPolicy` only. Rules newer
 * than the API apply to an object once it satisfies them: what was stored before remains valid. Not here: calling them
 * (apiserver/admission).
 */
import { deepEqual } from "../../../base/deep.ts";
import type { MutatingWebhook, ValidatingWebhook, WebhookClientConfig } from "../../generated/admissionregistration.k8s.io/v1.ts";
import { changedItems, withChanges } from "../../changes.ts";
import { child, duplicate, element, invalid, notSupported, required, type FieldError } from "../../machinery/field-error.ts";
import { validateLabelSelectorObject } from "../../machinery/selectors/label-selector.ts";
import { validateDns1035Label, validateFullyQualifiedName } from "../../machinery/names.ts";
import { validateWebhookService, validateWebhookUrl } from "../../webhook-client.ts";
import { validateMatchConditions } from "./expressions.ts";
import { validateFailurePolicy, validateReinvocationPolicy } from "./failure-policy.ts";
import { defaultRule, validateMatchPolicy, validateRule } from "./rules.ts";

type Webhook = ValidatingWebhook | MutatingWebhook;

interface Configuration {
  readonly webhooks?: readonly Webhook[];
}

const DEFAULT_TIMEOUT_SECONDS = 10;
const TIMEOUT_MAX_SECONDS = 30;
const DEFAULT_PORT = 443;
/** Versions of AdmissionReview that a server of the previous version would know, too. */
const REVIEW_VERSIONS: readonly string[] = ["v1", "v1beta1"];
const SIDE_EFFECTS: readonly string[] = ["None", "NoneOnDryRun", "Some", "Unknown"];
const NO_SIDE_EFFECTS: readonly string[] = ["None", "NoneOnDryRun"];

export function defaultWebhook<W extends Webhook>(webhook: W): W {
  const { failurePolicy = "Fail", matchPolicy = "Equivalent", namespaceSelector = {}, objectSelector = {} } = webhook;
  const { timeoutSeconds = DEFAULT_TIMEOUT_SECONDS } = webhook;
  return withChanges<Webhook>(webhook, {
    clientConfig: defaultClient(webhook.clientConfig),
    failurePolicy,
    matchPolicy,
    namespaceSelector,
    objectSelector,
    timeoutSeconds,
    rules: changedItems(webhook.rules, defaultRule),
  }) as W;
}

function defaultClient(client: WebhookClientConfig): WebhookClientConfig {
  const { service } = client;
  if (service === undefined || service.port !== undefined) return client;
  return { ...client, service: { ...service, port: DEFAULT_PORT } };
}

interface WebhookRules {
  readonly allowsSideEffects: boolean;
  readonly allowsUnknownVersions: boolean;
  readonly allowsSameNames: boolean;
  readonly allowsInvalidSelectorValues: boolean;
  readonly ignoresMatchConditions: boolean;
}

const STRICT: WebhookRules = {
  allowsSideEffects: false,
  allowsUnknownVersions: false,
  allowsSameNames: false,
  allowsInvalidSelectorValues: false,
  ignoresMatchConditions: false,
};

export function* validateWebhooks(configuration: Configuration, previous?: Configuration): Iterable<FieldError> {
  const webhooks = configuration.webhooks ?? [];
  const rules = previous === undefined ? STRICT : rulesAfter(previous.webhooks ?? [], webhooks);
  const names = new Set<string>();
  for (const [index, webhook] of webhooks.entries()) {
    const at = element("webhooks", index);
    yield* validateWebhook(webhook, at, rules);
    yield* validateReviewVersions(versionsOf(webhook), child(at, "admissionReviewVersions"), rules);
    if (webhook.name === "" || rules.allowsSameNames) continue;
    if (names.has(webhook.name)) yield duplicate(child(at, "name"), webhook.name);
    names.add(webhook.name);
  }
}

/** Violations of the stored object may remain. */
function rulesAfter(previous: readonly Webhook[], next: readonly Webhook[]): WebhookRules {
  return {
    allowsSideEffects: previous.some(({ sideEffects }) => !NO_SIDE_EFFECTS.includes(sideEffects)),
    allowsUnknownVersions: previous.some((webhook) => versionsOf(webhook).length > 0 && !hasKnownVersion(versionsOf(webhook))),
    allowsSameNames: new Set(previous.map(({ name }) => name)).size < previous.length,
    allowsInvalidSelectorValues: previous.some((webhook) => [...validateSelectors(webhook, "", STRICT)].length > 0),
    ignoresMatchConditions:
      previous.length === next.length &&
      previous.every(({ matchConditions }, index) => deepEqual(matchConditions, next[index]?.matchConditions)),
  };
}

function* validateWebhook(webhook: Webhook, at: string, rules: WebhookRules): Iterable<FieldError> {
  yield* validateFullyQualifiedName(webhook.name, child(at, "name"));
  for (const [index, rule] of (webhook.rules ?? []).entries()) yield* validateRule(rule, element(child(at, "rules"), index));
  yield* validateFailurePolicy(webhook.failurePolicy, at);
  yield* validateMatchPolicy(webhook.matchPolicy, at);
  yield* validateSideEffects(webhook.sideEffects, child(at, "sideEffects"), rules);
  const { timeoutSeconds = DEFAULT_TIMEOUT_SECONDS } = webhook;
  if (timeoutSeconds > TIMEOUT_MAX_SECONDS || timeoutSeconds < 1) {
    yield invalid(child(at, "timeoutSeconds"), timeoutSeconds, `the timeout value must be between 1 and ${TIMEOUT_MAX_SECONDS} seconds`);
  }
  yield* validateSelectors(webhook, at, rules);
  if ("reinvocationPolicy" in webhook) yield* validateReinvocationPolicy(webhook.reinvocationPolicy, at);
  yield* validateClient(webhook.clientConfig, child(at, "clientConfig"));
  if (rules.ignoresMatchConditions) return;
  yield* validateMatchConditions(webhook.matchConditions, child(at, "matchConditions"), { hasParams: false });
}

/** A client may omit it, whatever the type says. */
function* validateSideEffects(sideEffects: string | undefined, at: string, { allowsSideEffects }: WebhookRules): Iterable<FieldError> {
  const allowed = allowsSideEffects ? SIDE_EFFECTS : NO_SIDE_EFFECTS;
  if (sideEffects === undefined) yield required(at, `must specify one of ${allowed.join(", ")}`);
  else if (!allowed.includes(sideEffects)) yield notSupported(at, sideEffects, allowed);
}

function* validateSelectors(webhook: Webhook, at: string, { allowsInvalidSelectorValues }: WebhookRules): Iterable<FieldError> {
  const rules = { allowInvalidValues: allowsInvalidSelectorValues };
  yield* validateLabelSelectorObject(webhook.namespaceSelector, child(at, "namespaceSelector"), rules);
  yield* validateLabelSelectorObject(webhook.objectSelector, child(at, "objectSelector"), rules);
}

function* validateClient({ url, service }: WebhookClientConfig, at: string): Iterable<FieldError> {
  if ((url === undefined) === (service === undefined)) yield required(at, "exactly one of url or service is required");
  else if (url !== undefined) yield* validateWebhookUrl(url, child(at, "url"));
  else if (service !== undefined) {
    // Upstream swaps name and namespace, which shows in what is reported as missing.
    yield* validateWebhookService({ ...service, name: service.namespace, namespace: service.name }, child(at, "service"));
  }
}

function* validateReviewVersions(versions: readonly string[], at: string, { allowsUnknownVersions }: WebhookRules): Iterable<FieldError> {
  if (versions.length === 0) {
    yield required(at, `must specify one of ${REVIEW_VERSIONS.join(", ")}`);
    return;
  }
  const seen = new Set<string>();
  for (const [index, version] of versions.entries()) {
    if (seen.has(version)) yield invalid(element(at, index), version, "duplicate version");
    else for (const wrong of validateDns1035Label(version)) yield invalid(element(at, index), version, wrong);
    seen.add(version);
  }
  if (!allowsUnknownVersions && !hasKnownVersion(versions)) {
    yield invalid(at, versions, `must include at least one of ${REVIEW_VERSIONS.join(", ")}`);
  }
}

/** A client may omit them, whatever the type says. */
function versionsOf({ admissionReviewVersions }: { readonly admissionReviewVersions?: readonly string[] }): readonly string[] {
  return admissionReviewVersions ?? [];
}

function hasKnownVersion(versions: readonly string[]): boolean {
  return versions.some((version) => REVIEW_VERSIONS.includes(version));
}
