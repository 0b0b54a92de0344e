/**
 * Permissions to act for a certificate signer. Signers are no objects: the permission is one for the resource `signers` of
 * certificates.k8s.io, by the signer's name or by `<domain>/*` for all signers of its domain.
 */
import type { Authorizer } from "../framework/authorization.ts";
import type { User } from "../framework/request.ts";

const GROUP = "certificates.k8s.io";

export interface SignerAct {
  /** "approve", "sign". */
  readonly verb: string;
  /** "kubernetes.io/kubelet-serving". */
  readonly signerName: string;
}

export function maySign(authorizer: Authorizer, user: User, { verb, signerName }: SignerAct): boolean {
  const [domain = ""] = signerName.split("/");
  return [signerName, `${domain}/*`].some((name) => {
    const resource = { group: GROUP, version: "*", plural: "signers", subresource: "", namespace: "", name };
    return authorizer.authorize({ user, verb, resource, path: "" }).allowed;
  });
}
