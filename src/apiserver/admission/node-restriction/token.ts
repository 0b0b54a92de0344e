/** A node may request service account tokens only for pods bound to it, and only for audiences that the pod declares. */
import type { TokenRequest } from "../../../api/generated/authentication.k8s.io/v1.ts";
import type { Pod } from "../../../api/generated/core/v1.ts";
import { quoteGo } from "../../../api/machinery/codec/go-text.ts";
import type { AdmissionDependencies, AdmissionRequest } from "../../framework/admission.ts";
import { findRequestedAudience } from "./audience.ts";
import { nodeOf, PODS } from "./pod.ts";
import { missing, refuse } from "./errors.ts";

/** Verb that, granted on a resource named like the audience, allows tokens for it regardless of the pod. */
const AUDIENCE_VERB = "request-serviceaccounts-token-audience";

export async function checkToken(request: AdmissionRequest, node: string, dependencies: AdmissionDependencies): Promise<void> {
  const { operation, subresource, namespace } = request;
  if (operation !== "CREATE" || subresource !== "token") return;
  const { boundObjectRef, audiences = [] } = (request.object as TokenRequest).spec ?? {};
  const { apiVersion, kind, name = "", uid = "" } = boundObjectRef ?? {};
  if (apiVersion !== "v1" || kind !== "Pod" || name === "") refuse(request, "node requested token not bound to a pod");
  if (uid === "") refuse(request, "node requested token with a pod binding without a uid");
  const pod = await dependencies.objects.get<Pod>(PODS, { namespace, name });
  if (pod === undefined) throw missing({ singular: "pod", name });
  if (uid !== pod.metadata.uid) {
    const what = `the UID in the bound object reference (${uid}) does not match the UID in record`;
    refuse(request, `${what}. The object might have been deleted and then recreated`);
  }
  if (nodeOf(pod) !== node) refuse(request, "node requested token bound to a pod scheduled on a different node");
  await checkAudience(request, audiences, pod, dependencies);
}

async function checkAudience(
  request: AdmissionRequest,
  audiences: readonly string[],
  pod: Pod,
  { objects, authorizer }: AdmissionDependencies,
): Promise<void> {
  const [audience = ""] = audiences;
  if (audiences.length > 1) refuse(request, "node may only request 0 or 1 audiences");
  const asked = await findRequestedAudience(objects, pod, audience);
  if (asked.found) return;
  if (asked.problem !== undefined) refuse(request, `error validating audience ${quoteGo(audience)}: ${asked.problem}`);
  const { context, namespace, name } = request;
  const resource = { group: "", version: "v1", plural: audience, subresource: "", namespace, name };
  if (authorizer.authorize({ user: context.user, verb: AUDIENCE_VERB, resource, path: "" }).allowed) return;
  const who = `${context.user.name} is not authorized to request tokens for this audience`;
  refuse(request, `audience ${quoteGo(audience)} not found in pod spec volume, ${who}`);
}
