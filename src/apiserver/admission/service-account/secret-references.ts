/**
 * Checks that a pod references only the secrets of its service account, for accounts that enforce mountable secrets. As upstream: secret
 * volumes, environment variables and image pull secrets only.
 */
import type { Container, EphemeralContainer, PodSpec, ServiceAccount } from "../../../api/generated/core/v1.ts";

type WithVariables = Pick<Container | EphemeralContainer, "name" | "env" | "envFrom">;

interface SecretReference {
  /** Name of the secret. */
  readonly name: string;
  /** Container part that references it, in upstream's wording. */
  readonly by: string;
}

function secretsOf({ env = [], envFrom = [] }: WithVariables): readonly SecretReference[] {
  const references: SecretReference[] = [];
  for (const { name, valueFrom } of env) {
    if (valueFrom?.secretKeyRef !== undefined) references.push({ name: valueFrom.secretKeyRef.name ?? "", by: `envVar ${name}` });
  }
  for (const { secretRef } of envFrom) if (secretRef !== undefined) references.push({ name: secretRef.name ?? "", by: "envFrom" });
  return references;
}

/** Returns the first reference that the account does not list; undefined if none. */
export function forbiddenReference(account: ServiceAccount, spec: PodSpec): string | undefined {
  const known = namesOf(account.secrets);
  for (const { secret } of spec.volumes ?? []) {
    const name = secret?.secretName ?? "";
    if (secret !== undefined && !known.has(name)) return notReferenced(`volume with secret.secretName="${name}"`, account);
  }
  return (
    inContainers("init container", spec.initContainers, known, account) ??
    inContainers("container", spec.containers, known, account) ??
    ofPulls(spec, account)
  );
}

/** The same for ephemeral containers, which are added later. */
export function forbiddenEphemeralReference(account: ServiceAccount, { ephemeralContainers }: PodSpec): string | undefined {
  return inContainers("ephemeral container", ephemeralContainers, namesOf(account.secrets), account);
}

function inContainers(
  title: string,
  containers: readonly WithVariables[] = [],
  known: ReadonlySet<string>,
  account: ServiceAccount,
): string | undefined {
  for (const container of containers) {
    const strange = secretsOf(container).find(({ name }) => !known.has(name));
    if (strange === undefined) continue;
    return notReferenced(`${title} ${container.name} with ${strange.by} referencing secret.secretName="${strange.name}"`, account);
  }
  return undefined;
}

function ofPulls({ imagePullSecrets = [] }: PodSpec, account: ServiceAccount): string | undefined {
  const known = namesOf(account.imagePullSecrets);
  const index = imagePullSecrets.findIndex(({ name = "" }) => !known.has(name));
  if (index === -1) return undefined;
  const what = `imagePullSecrets[${index}].name="${imagePullSecrets[index]?.name ?? ""}"`;
  return notReferenced(what, account, "imagePullSecret");
}

function notReferenced(what: string, { metadata }: ServiceAccount, kind = "secret"): string {
  return `${what} is not allowed because service account ${metadata.name} does not reference that ${kind}`;
}

function namesOf(references: readonly { readonly name?: string }[] = []): ReadonlySet<string> {
  return new Set(references.map(({ name = "" }) => name));
}
