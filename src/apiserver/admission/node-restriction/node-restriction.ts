/**
 * Restricts a node's writes to its own objects: its Node, Lease, mirror pods, the status of its pods, and tokens for its pods. The Node
 * authorizer allows writes per resource type; this plugin checks which object is written and what changes. Equivalent to upstream's plugin
 * of this name; volumes on its own disk are an addition of k8ts (localpath/). Not here: read access, which the authorizer decides alone.
 */
import { quoteGo } from "../../../api/machinery/codec/go-text.ts";
import { groupResourceOf } from "../../../api/machinery/object.ts";
import type { AdmissionDependencies, AdmissionPlugin, AdmissionRequest } from "../../framework/admission.ts";
import { nodeNameOf } from "../../shared/node-identity.ts";
import { checkCertificateRequest } from "./certificate-request.ts";
import { checkClaim } from "./claim.ts";
import { checkNode } from "./node.ts";
import { checkCsiNode, checkLease, checkResourceSlice } from "./own-objects.ts";
import { checkPod } from "./pod.ts";
import { checkPodCertificateRequest } from "./pod-certificate-request.ts";
import { checkToken } from "./token.ts";
import { checkVolume } from "./volume.ts";
import { refuse } from "./errors.ts";

/** Throws a StatusError to reject. */
type Check = (request: AdmissionRequest, node: string, dependencies: AdmissionDependencies) => Promise<void> | void;

/** Keyed by the resource name used in messages. */
const CHECKS: ReadonlyMap<string, Check> = new Map<string, Check>([
  ["pods", checkPod],
  ["nodes", checkNode],
  ["persistentvolumeclaims", checkClaim],
  ["persistentvolumes", checkVolume],
  ["serviceaccounts", checkToken],
  ["leases.coordination.k8s.io", checkLease],
  ["csinodes.storage.k8s.io", checkCsiNode],
  ["resourceslices.resource.k8s.io", checkResourceSlice],
  ["certificatesigningrequests.certificates.k8s.io", checkCertificateRequest],
  ["podcertificaterequests.certificates.k8s.io", checkPodCertificateRequest],
]);

export function nodeRestriction(dependencies: AdmissionDependencies): AdmissionPlugin {
  const check = (request: AdmissionRequest): Promise<void> | void => {
    const node = nodeNameOf(request.context.user);
    if (node === undefined) return undefined;
    if (node === "") return refuse(request, `could not determine node from user ${quoteGo(request.context.user.name)}`);
    const { group, plural } = request.endpoint.name;
    return CHECKS.get(groupResourceOf(group, plural))?.(request, node, dependencies);
  };
  return {
    name: "NodeRestriction",

    // Changes nothing, but must see the client's object before the resource's strategy resets immutable fields.
    mutate(request) {
      const checked = request.operation === "CREATE" || request.operation === "UPDATE" ? check(request) : undefined;
      return checked instanceof Promise ? checked.then(() => undefined) : undefined;
    },

    validate(request) {
      return request.operation === "DELETE" ? check(request) : undefined;
    },
  };
}
