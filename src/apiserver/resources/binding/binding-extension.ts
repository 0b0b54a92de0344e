/** `bindings`: the legacy form of `pods/binding`. */
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
    // Required by the type, but a client may omit it.
    const { name }: { readonly name?: string } = object.metadata;
    if (name === undefined || name === "") throw badRequest("Name parameter required.");
    const [problem] = validatePathSegmentName(name);
    if (problem !== undefined) throw badRequest(`Name parameter invalid: ${JSON.stringify(name)}: ${problem}`);
    return bindPod(server, { endpoint, object, request: { ...request, plural: "pods", name, subresource: "binding" } });
  },
});
