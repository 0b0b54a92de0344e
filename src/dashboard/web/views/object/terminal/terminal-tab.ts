/** A terminal in a container of a Pod: a shell (exec), the container's own process (attach), or a new debug container. */
import { h, type JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { kindId } from "../../../../data/kinds.ts";
import { containerNames } from "../../../../data/pod-selector.ts";
import { addDebugContainer, containerState } from "../../../../data/terminal/debug-container.ts";
import { SHELLS } from "../../../../data/terminal/terminal-session.ts";
import { Button, Checkbox, Select, TextField } from "../../../parts/form.ts";
import { useAccess } from "../../../parts/access.ts";
import { Empty, ErrorNote } from "../../../parts/notes.ts";
import type { Tab, TabProps } from "../tab.ts";
import { TerminalScreen, type Connected } from "./terminal-screen.ts";

export const terminalTab: Tab = { name: "terminal", title: "Terminal", isFor: (kind) => kindId(kind) === "pods", component: TerminalTab };

type Mode = "exec" | "attach" | "debug";

const MODES: readonly { readonly value: Mode; readonly title: string }[] = [
  { value: "exec", title: "Shell or command (exec)" },
  { value: "attach", title: "Main process (attach)" },
  { value: "debug", title: "New debug container" },
];

function TerminalTab({ context, object }: TabProps): JSX.Element {
  const names = containerNames(object);
  const running = names.filter((name) => containerState(object, name) === "Running");
  const [mode, setMode] = useState<Mode>("exec");
  const [container, setContainer] = useState(running[0] ?? names[0] ?? "");
  const [command, setCommand] = useState("");
  const [hasScreenReader, setScreenReader] = useState(false);
  const [image, setImage] = useState("busybox");
  const [connected, setConnected] = useState<Connected | undefined>(undefined);
  const [debugging, setDebugging] = useState<string | undefined>(undefined);
  const [error, setError] = useState<Error | undefined>(undefined);
  const { namespace = "", name } = object.metadata;
  const forbidden = useAccess(context, neededFor(mode, namespace, name));
  const attach = (to: string) => setConnected({ number: (connected?.number ?? 0) + 1, container: to, hasScreenReader });
  // The new container is attached to once it runs.
  const debugState = debugging === undefined ? undefined : containerState(object, debugging);
  useEffect(() => {
    if (debugging === undefined || debugState !== "Running") return;
    setDebugging(undefined);
    attach(debugging);
  }, [debugging, debugState]);
  const connect = () => {
    setError(undefined);
    const number = (connected?.number ?? 0) + 1;
    const words = command.trim().split(/\s+/).filter(Boolean);
    if (mode === "attach") setConnected({ number, container, hasScreenReader });
    else if (mode === "exec") setConnected({ number, container, hasScreenReader, commands: words.length === 0 ? SHELLS : [words] });
    else addDebugContainer(context.api, object, { image, targetContainer: container }).then(setDebugging, setError);
  };
  const title = mode === "debug" ? "Add and attach" : "Connect";
  return h(
    "div",
    { class: "terminal-tab" },
    h(
      "form",
      {
        class: "controls",
        onSubmit(event: Event) {
          event.preventDefault();
          connect();
        },
      },
      h(Select, { label: "Connect to", value: mode, choices: MODES, choose: (value) => setMode(value as Mode) }),
      h(Select, {
        label: mode === "debug" ? "Sees processes of" : "Container",
        value: container,
        choices: names.map((value) => ({ value, title: `${value} (${containerState(object, value)})` })),
        choose: setContainer,
      }),
      mode === "exec"
        ? h(TextField, { label: "Command", value: command, placeholder: "bash, or sh", changed: setCommand })
        : mode === "debug"
          ? h(TextField, { label: "Image", value: image, isRequired: true, changed: setImage })
          : null,
      h(Checkbox, { label: "Screen reader", isChecked: hasScreenReader, change: setScreenReader }),
      h("button", { type: "submit", class: "primary", disabled: forbidden !== "" }, title),
      connected === undefined ? null : h(Button, { text: "Disconnect", press: () => setConnected(undefined) }),
    ),
    forbidden === undefined || forbidden === "" ? null : h(Empty, { text: forbidden }),
    error === undefined ? null : h(ErrorNote, { error }),
    debugging === undefined
      ? null
      : h("p", { class: "note", role: "status" }, `Waiting for container ${debugging} (${debugState ?? ""}) …`),
    connected === undefined
      ? h(Empty, { text: "Not connected. In the terminal, Shift+Escape leaves it by keyboard: Tab belongs to the program." })
      : h(TerminalScreen, { key: connected.number, context, target: { namespace, pod: name, container: connected.container }, connected }),
  );
}

/** A WebSocket is a GET request, and needs the permission to create besides. */
function neededFor(mode: Mode, namespace: string, name: string) {
  const common = { resource: "pods", namespace, name };
  if (mode === "debug") return [{ ...common, verb: "patch", subresource: "ephemeralcontainers" }, ...both("attach")];
  return both(mode);

  function both(subresource: string) {
    return ["get", "create"].map((verb) => ({ ...common, verb, subresource }));
  }
}
