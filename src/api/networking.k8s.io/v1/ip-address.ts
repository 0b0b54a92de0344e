/**
 * networking.k8s.io/v1 IPAddress: an allocated address and its owner. The name is the address, so that only one of two concurrent creates
 * succeeds; that is how Service addresses are allocated.
 *
 * The parent is immutable: an address changes its owner by being deleted and created again. Not here: creating and deleting them
 * (apiserver/resources/service).
 */
import { deepEqual } from "../../../base/deep.ts";
import type { IPAddress, ParentReference } from "../../generated/networking.k8s.io/v1.ts";
import { nameColumn, NONE, textColumn } from "../../machinery/columns.ts";
import { child, immutable, invalid, required, type FieldError } from "../../machinery/field-error.ts";
import { validateIp } from "../../machinery/ip/ip-validation.ts";
import { validateDnsSubdomain } from "../../machinery/names.ts";
import { defineResource } from "../../machinery/resource.ts";
import { validateSegment } from "./typed-reference.ts";

const AT = "spec.parentRef";

export const ipAddresses = defineResource<IPAddress>({
  kind: "IPAddress",
  plural: "ipaddresses",
  singular: "ipaddress",
  shortNames: ["ip"],
  scope: "Cluster",
  served: [{ group: "networking.k8s.io", version: "v1", schema: "io.k8s.api.networking.v1.IPAddress" }],

  // A name with a suffix would be no address.
  generatedName: (generateName) => generateName,
  validateName: validateIp,
  *validate(address, previous) {
    const parent = parentOf(address);
    if (parent === undefined) yield required(AT);
    else yield* validateParent(parent);
    if (previous !== undefined && !deepEqual(parent, parentOf(previous))) yield immutable(AT, parent && shownParent(parent));
  },

  // Upstream's rows have an age too, but without a column, and kubectl does not show it.
  columns: [nameColumn, textColumn("ParentRef", "Object that uses the address", (address) => parentText(parentOf(address)))],
});

/** Required by the types; a client may have omitted them. */
type Parent = Partial<ParentReference>;

function parentOf({ spec }: IPAddress): Parent | undefined {
  return spec.parentRef;
}

function* validateParent({ group = "", resource = "", name = "", namespace = "" }: Parent): Iterable<FieldError> {
  // The core group, where Services are, is the empty one.
  if (group !== "") for (const wrong of validateDnsSubdomain(group)) yield invalid(child(AT, "group"), group, wrong);
  yield* validateSegment(resource, child(AT, "resource"));
  yield* validateSegment(name, child(AT, "name"));
  if (namespace !== "") yield* validateSegment(namespace, child(AT, "namespace"));
}

/** In the format of upstream's message: with the names of its own type. */
function shownParent({ group = "", resource = "", namespace = "", name = "" }: Parent): unknown {
  return { Group: group, Resource: resource, Namespace: namespace, Name: name };
}

/** "services/default/web", "gateways.example.com/web". */
function parentText(parent: Parent | undefined): string {
  if (parent === undefined) return NONE;
  const { group = "", resource = "", namespace = "", name = "" } = parent;
  const kind = (group === "" ? resource : `${resource}.${group}`).toLowerCase();
  return [kind, ...(namespace === "" ? [] : [namespace]), name].join("/");
}
