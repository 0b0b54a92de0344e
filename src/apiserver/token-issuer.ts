/** The seam of "a token for this service account": identity fills it with a key that signs. */
import type { TokenRequest } from "../api/generated/authentication.k8s.io/v1.ts";
import type { JsonObject, KubeObject } from "../api/machinery/object.ts";

export interface TokenIssuer {
  /** The request with its status: the token, and when it ends. The request is valid and has its defaults. */
  issue(request: TokenRequest, serviceAccount: KubeObject, options: { readonly dryRun: boolean }): Promise<JsonObject>;
}
