/**
 * Invalidates and later deletes generated token Secrets that are no longer used: those that their ServiceAccount lists, which clusters
 * before 1.24 created for every account. Secrets that users create are not listed and stay. Not here: when (unused-token.ts), recording
 * the use (apiserver/authentication/service-account-token/last-use.ts).
 */
import { configMaps } from "../../api/core/v1/config-map.ts";
import { secretNames } from "../../api/core/v1/pod/references.ts";
import { pods } from "../../api/core/v1/pod.ts";
import { secrets } from "../../api/core/v1/secret.ts";
import {
  INVALID_SINCE_LABEL,
  isServiceAccountToken,
  isTokenOf,
  serviceAccountNameOf,
  TOKEN_TRACKING_CONFIG_MAP,
} from "../../api/core/v1/secret/service-account-token.ts";
import { serviceAccounts } from "../../api/core/v1/service-account.ts";
import type { ConfigMap, Pod, Secret, ServiceAccount } from "../../api/generated/core/v1.ts";
import type { Reader } from "../../client/informer/informer.ts";
import {
  after,
  defineController,
  onChange,
  watch,
  type Change,
  type Controller,
  type Outcome,
  type Pass,
  type WorkKey,
} from "../runtime/controller.ts";
import { keyOf } from "../runtime/keys.ts";
import { decideUnusedToken } from "./unused-token.ts";

export interface LegacyTokenCleanerSettings {
  /** Time without use after which a token is invalid, and then deleted. Default: a year, as upstream. */
  readonly cleanUpPeriodMs: number;
}

export const LEGACY_TOKEN_CLEANER_DEFAULTS: LegacyTokenCleanerSettings = { cleanUpPeriodMs: 8_760 * 3_600_000 };

const TRACKING = { namespace: "kube-system", name: TOKEN_TRACKING_CONFIG_MAP };

export function legacyServiceAccountTokenCleanerController(settings: Partial<LegacyTokenCleanerSettings> = {}): Controller {
  const { cleanUpPeriodMs } = { ...LEGACY_TOKEN_CLEANER_DEFAULTS, ...settings };
  return defineController({
    name: "legacy-serviceaccount-token-cleaner-controller",
    aliases: ["legacy-service-account-token-cleaner"],
    account: "legacy-service-account-token-cleaner",
    rules: [{ apiGroups: [""], resources: ["secrets"], verbs: ["delete", "patch"] }],
    watches: [
      watch(secrets, ({ object }) => (isServiceAccountToken(object) ? [keyOf(object)] : [])),
      watch(serviceAccounts, keysOfAccount),
      watch(pods, keysOfPod),
      watch(configMaps, keysOfConfigMap),
    ],
    concurrency: 1,
    reconcile: (key, pass) => clean(key, pass, cleanUpPeriodMs),
  });
}

/** Those that it lists now: one that it no longer lists stays. */
function* keysOfAccount({ is, object, previous }: Change<ServiceAccount>, read: Reader): Iterable<WorkKey> {
  if (is === "deleted" || object.secrets === previous?.secrets) return;
  const { namespace } = object.metadata;
  for (const { name = "" } of object.secrets ?? []) if (isToken({ namespace, name }, read)) yield { namespace, name };
}

/** A deleted Pod may have been the last that uses a token. */
function* keysOfPod({ is, object: { metadata, spec } }: Change<Pod>, read: Reader): Iterable<WorkKey> {
  if (is !== "deleted" || spec === undefined) return;
  const { namespace } = metadata;
  for (const name of secretNames(spec)) if (isToken({ namespace, name }, read)) yield { namespace, name };
}

function* keysOfConfigMap({ object: { metadata } }: Change<ConfigMap>, read: Reader): Iterable<WorkKey> {
  if (metadata.name !== TRACKING.name || metadata.namespace !== TRACKING.namespace || !read.knows(secrets)) return;
  for (const secret of read.list(secrets)) if (isServiceAccountToken(secret)) yield keyOf(secret);
}

function isToken(key: WorkKey, read: Reader): boolean {
  if (!read.knows(secrets)) return false;
  const secret = read.get(secrets, key);
  return secret !== undefined && isServiceAccountToken(secret);
}

async function clean(key: WorkKey, pass: Pass, cleanUpPeriodMs: number): Promise<Outcome> {
  const { read, write, clock, log } = pass;
  const secret = read.get(secrets, key);
  if (secret === undefined || !isServiceAccountToken(secret) || secret.metadata.deletionTimestamp !== undefined) return onChange;
  if (!isListed(secret, read)) return onChange;
  const nowMs = clock.now();
  const trackedSince = read.get(configMaps, TRACKING)?.data?.["since"];
  const decision = decideUnusedToken(secret, { nowMs, cleanUpPeriodMs, trackedSince });
  if (decision.is === "keep") return decision.untilMs === undefined ? onChange : after(decision.untilMs - nowMs);
  if (isUsed(secret, read)) return onChange;
  const { uid = "", resourceVersion = "" } = secret.metadata;
  if (decision.is === "invalidate") {
    log.info("Marking the generated service account token as invalid: it is unused", { since: decision.since });
    await write.patch(secrets, key, { type: "merge", value: { metadata: { uid, labels: { [INVALID_SINCE_LABEL]: decision.since } } } });
    return onChange;
  }
  log.info("Deleting the generated service account token: it is unused");
  // With its resourceVersion, too: it may just have been used.
  await write.delete(secrets, key, { preconditions: { uid, resourceVersion } });
  return onChange;
}

function isListed(secret: Secret, read: Reader): boolean {
  const account = read.get(serviceAccounts, { namespace: secret.metadata.namespace, name: serviceAccountNameOf(secret) });
  if (account === undefined || !isTokenOf(secret, account)) return false;
  return account.secrets?.some(({ name }) => name === secret.metadata.name) === true;
}

function isUsed({ metadata }: Secret, read: Reader): boolean {
  return read.list(pods, metadata.namespace).some(({ spec }) => spec !== undefined && secretNames(spec).has(metadata.name));
}
