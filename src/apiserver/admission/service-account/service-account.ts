/**
 * Ensures that a pod runs as an existing service account, "default" if it names none, and adds the token volume and the image pull secrets
 * of the account. Mirror pods are not changed and may not use service accounts. Equivalent to upstream's plugin of this name: pods are
 * changed on create; references of ephemeral containers are checked, too.
 */
import { signalOf } from "../../../base/abort.ts";
import { pods } from "../../../api/core/v1/pod.ts";
import type { Pod, PodSpec, ServiceAccount } from "../../../api/generated/core/v1.ts";
import { isMirror, secretNames } from "../../../api/core/v1/pod/references.ts";
import { quoteGo } from "../../../api/machinery/codec/go-text.ts";
import { StatusError } from "../../../api/machinery/status-error.ts";
import type { AdmissionDependencies, AdmissionPlugin, AdmissionRequest } from "../../framework/admission.ts";
import { isCreateOf, isUpdateOf, refused } from "../../shared/admission-request.ts";
import { AccountDirectory, DEFAULT_ACCOUNT } from "./account-directory.ts";
import { forbiddenReference, forbiddenEphemeralReference } from "./secret-references.ts";
import { withToken } from "./token-volume.ts";

const ENFORCES_ANNOTATION = "kubernetes.io/enforce-mountable-secrets";

/** The values that Go's strconv.ParseBool accepts as true. */
const TRUE = ["1", "t", "T", "true", "TRUE", "True"];

export function serviceAccount({ objects, clock, random }: Pick<AdmissionDependencies, "objects" | "clock" | "random">): AdmissionPlugin {
  const own = random.derive("ServiceAccount");
  const directory = new AccountDirectory({ objects, clock, random: own });
  return {
    name: "ServiceAccount",

    start: () => directory.start(),

    mutate(request) {
      if (!isCreateOf(request, pods)) return undefined;
      const { object: pod } = request;
      if (isMirror(pod)) {
        refuseMirror(request, pod);
        return undefined;
      }
      const name = pod.spec?.serviceAccountName || DEFAULT_ACCOUNT;
      return withAccount(directory, request, name, (account) => {
        const spec = { ...specOf(pod), serviceAccountName: name, serviceAccount: name };
        const filled = { ...pod, spec: withPullSecrets(mounts(account, spec) ? withToken(spec, own) : spec, account) };
        refuseSecrets(request, account, filled);
        return filled;
      });
    },

    validate(request) {
      if (isUpdateOf(request, pods, "ephemeralcontainers")) {
        const { object: changed } = request;
        return withAccount(directory, request, nameOf(request, changed), (account) => refuseEphemeralSecrets(account, changed));
      }
      if (!isCreateOf(request, pods)) return;
      const { object: pod } = request;
      if (isMirror(pod)) return refuseMirror(request, pod);
      return withAccount(directory, request, nameOf(request, pod), (account) => refuseSecrets(request, account, pod));
    },
  };
}

/** Synchronous if the cache has the account, which is nearly always. */
function withAccount<T>(
  directory: AccountDirectory,
  request: AdmissionRequest,
  name: string,
  use: (account: ServiceAccount) => T,
): Promise<T> | T {
  const { namespace } = request;
  const known = directory.cached(namespace, name);
  if (known !== undefined) return use(known);
  const { signal } = request.context;
  return directory.find(namespace, name, signal === undefined ? undefined : signalOf(signal)).then((found) => {
    if (found !== undefined) return use(found);
    throw refused(request, `error looking up service account ${namespace}/${name}: serviceaccount ${quoteGo(name)} not found`);
  });
}

function nameOf(request: AdmissionRequest, pod: Pod): string {
  const { serviceAccountName = "" } = specOf(pod);
  if (serviceAccountName !== "") return serviceAccountName;
  throw refused(request, `no service account specified for pod ${request.namespace}/${pod.metadata.name ?? ""}`);
}

function specOf({ spec }: Pod): PodSpec {
  return spec ?? ({} as PodSpec);
}

function refuseMirror(request: AdmissionRequest, pod: Pod): void {
  const spec = specOf(pod);
  if (spec.serviceAccountName) throw refused(request, "a mirror pod may not reference service accounts");
  if (secretNames(spec).size > 0) throw refused(request, "a mirror pod may not reference secrets");
  const sources = (spec.volumes ?? []).flatMap(({ projected }) => projected?.sources ?? []);
  if (sources.some(({ serviceAccountToken }) => serviceAccountToken !== undefined)) {
    throw refused(request, "a mirror pod may not use ServiceAccountToken volume projections");
  }
}

/** The pod's setting takes precedence over the account's. */
function mounts(account: ServiceAccount, spec: PodSpec): boolean {
  return spec.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true;
}

function withPullSecrets(spec: PodSpec, { imagePullSecrets = [] }: ServiceAccount): PodSpec {
  if ((spec.imagePullSecrets ?? []).length > 0 || imagePullSecrets.length === 0) return spec;
  return { ...spec, imagePullSecrets };
}

function enforces({ metadata }: ServiceAccount): boolean {
  return TRUE.includes(metadata.annotations?.[ENFORCES_ANNOTATION] ?? "");
}

function refuseSecrets(request: AdmissionRequest, account: ServiceAccount, pod: Pod): void {
  const why = enforces(account) ? forbiddenReference(account, specOf(pod)) : undefined;
  if (why !== undefined) throw refused(request, why);
}

function refuseEphemeralSecrets(account: ServiceAccount, pod: Pod): void {
  const why = enforces(account) ? forbiddenEphemeralReference(account, specOf(pod)) : undefined;
  // Upstream does not report this as a client error.
  if (why !== undefined) throw new StatusError("Unknown", why);
}
