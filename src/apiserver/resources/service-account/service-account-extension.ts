/**
 * `serviceaccounts/token`: a token for a ServiceAccount. What is asked for is checked here; who signs it is the seam that identity fills
 * (`ServerContext.tokens`).
 */
import type { TokenRequest } from "../../../api/generated/authentication.k8s.io/v1.ts";
import {
  defaultTokenRequest,
  validateTokenRequest,
  validateTokenRequestTarget,
} from "../../../api/authentication.k8s.io/v1/token-request.ts";
import { invalidObject, notFound, StatusError } from "../../../api/machinery/status-error.ts";
import type { ExtensionFactory } from "../../extension.ts";
import { isDryRun } from "../../request.ts";

const TOKEN_REQUEST = { group: "authentication.k8s.io", kind: "TokenRequest" };

export const serviceAccountExtension: ExtensionFactory = ({ tokens }) => ({
  group: "",
  plural: "serviceaccounts",
  actions: {
    async token({ endpoint, request, object }) {
      const name = { namespace: request.namespace, name: request.name };
      const wanted = defaultTokenRequest(object as unknown as TokenRequest);
      const [wrong] = validateTokenRequestTarget(wanted, name);
      if (wrong !== undefined) throw invalidObject(TOKEN_REQUEST, wanted.metadata.name, [wrong]);
      const account = await endpoint.storage.get(name);
      if (account === undefined) throw notFound(endpoint.name, name.name);
      const errors = [...validateTokenRequest(wanted)];
      if (errors.length > 0) throw invalidObject(TOKEN_REQUEST, "", errors);
      if (tokens === undefined)
        throw new StatusError("ServiceUnavailable", "tokens of service accounts cannot be signed: the server has no key");
      const issued = await tokens.issue(wanted, account.object, { dryRun: isDryRun(request.options) });
      return { is: "value", code: 201, schema: "io.k8s.api.authentication.v1.TokenRequest", value: issued };
    },
  },
});
