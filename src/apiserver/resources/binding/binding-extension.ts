/** `bindings`: the older way to say that a Pod belongs to a node; the same as `pods/binding`. */
import { validatePathSegmentName } from "../../../api/machinery/names.ts";
import { badRequest, noSuchPath } from "../../../api/machinery/status-error.ts";
import { bindPod } from "../../shared/bind-pod.ts";
import type { ExtensionFactory } from "../../framework/server-context.ts";

export const bindingExtension: ExtensionFactory = (server) => ({
  group: "",
  plural: "bindings",
  answer({ request, object }) {
    const endpoint = server.endpoints.stored("", "pods");
    if (endpoint === undefined) throw noSuchPath();
    // The type says that there is one; a client may have left it out.
    const { name }: { readonly name?: string } = object.metadata;
    if (name === undefined || name === "") throw badRequest("Name parameter required.");
    const [problem] = validatePathSegmentName(name);
    if (problem !== undefined) throw badRequest(`Name parameter invalid: ${JSON.stringify(name)}: ${problem}`);
    return bindPod(server, { endpoint, object, request: { ...request, plural: "pods", name, subresource: "binding" } });
  },
});
