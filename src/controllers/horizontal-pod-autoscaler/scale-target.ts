/**
 * The scaled object, by its `scale` subresource: any kind that has one, found by discovery. The group of a reference counts, not its
 * version, as upstream.
 */
import type { Scale } from "../../api/generated/autoscaling/v1.ts";
import type { CrossVersionObjectReference } from "../../api/generated/autoscaling/v2.ts";
import { parseApiVersion, type JsonObject } from "../../api/machinery/object.ts";
import { isReason } from "../../api/machinery/status-error.ts";
import { Lru } from "../../base/lru.ts";
import type { Client, ResourceKind } from "../../client/client.ts";
import { discoverVersion } from "../../client/discovery.ts";

/** More than a cluster has kinds with a scale. */
const KINDS_MAX = 100;

/** The reference cannot be resolved. The message is upstream's. */
export class UnknownTarget extends Error {
  override readonly name = "UnknownTarget";
}

/** The reference is invalid, whatever the cluster has. */
export class InvalidTarget extends UnknownTarget {}

/** Kinds by group and kind. Looked up again after a failure: a custom resource may come and go. */
export class ScaleTargets {
  readonly #kinds = new Lru<string, ResourceKind<Scale>>({ max: KINDS_MAX });

  async get(client: Client, namespace: string, reference: CrossVersionObjectReference): Promise<Scale> {
    const kind = await this.kindOf(client, reference);
    try {
      return await client.get(kind, { namespace, name: reference.name }, { subresource: "scale" });
    } catch (error) {
      this.#kinds.delete(nameOf(reference));
      throw error;
    }
  }

  /** Rejects with Conflict if the object changed since the scale was read. */
  async set(client: Client, reference: CrossVersionObjectReference, scale: Scale, replicas: number): Promise<void> {
    const kind = await this.kindOf(client, reference);
    await client.update(kind, { ...scale, spec: { ...scale.spec, replicas } }, { subresource: "scale" });
  }

  /** The resource of a reference: also of objects that have metrics. */
  async kindOf(client: Client, reference: CrossVersionObjectReference): Promise<ResourceKind<Scale>> {
    const known = this.#kinds.get(nameOf(reference));
    if (known !== undefined) return known;
    const found = await discovered(client, reference);
    this.#kinds.set(nameOf(reference), found);
    return found;
  }
}

function nameOf({ apiVersion = "", kind }: CrossVersionObjectReference): string {
  return `${apiVersion} ${kind}`;
}

async function discovered(client: Client, { apiVersion = "", kind }: CrossVersionObjectReference): Promise<ResourceKind<Scale>> {
  const parsed = parseApiVersion(apiVersion);
  if (parsed === undefined) throw new InvalidTarget(`unexpected GroupVersion string: ${apiVersion}`);
  for (const version of await versionsOf(client, parsed.group)) {
    const found = (await discoverVersion(client, version)).find((candidate) => candidate.kind === kind);
    if (found === undefined) continue;
    const { plural, scope, storage } = found;
    return { kind: "Scale", plural, scope, storage };
  }
  throw new UnknownTarget(`no matches for kind ${JSON.stringify(kind)} in group ${JSON.stringify(parsed.group)}`);
}

/** "apps/v1", …: the preferred version first. */
async function versionsOf(client: Client, group: string): Promise<readonly string[]> {
  if (group === "") return ["v1"];
  try {
    const { preferredVersion, versions = [] } = (await client.document(`/apis/${group}`)) as GroupDocument;
    return [...new Set([preferredVersion, ...versions].flatMap((version) => version?.groupVersion ?? []))];
  } catch (error) {
    if (isReason(error, "NotFound")) return [];
    throw error;
  }
}

type GroupDocument = JsonObject & {
  readonly preferredVersion?: { readonly groupVersion: string };
  readonly versions?: readonly { readonly groupVersion: string }[];
};
