/** The login page: a token is tried against the API and then kept in the memory of this page only. */
import { h, type JSX } from "preact";
import { useState } from "preact/hooks";

export interface LoginProps {
  /** Why a login is needed, if something failed. */
  readonly problem?: string | undefined;
  /** Resolves with the problem; undefined if the token is accepted. */
  login(token: string): Promise<string | undefined>;
  openRecording(): void;
  readonly fileProblem: string | undefined;
}

export function Login({ problem, login, openRecording, fileProblem }: LoginProps): JSX.Element {
  const [token, setToken] = useState("");
  const [failure, setFailure] = useState(problem);
  const submit = async (event: Event) => {
    event.preventDefault();
    setFailure(await login(token.trim()));
  };
  return h(
    "main",
    { class: "login" },
    h("h1", null, "k8ts"),
    failure === undefined ? null : h("p", { class: "note error", role: "alert" }, failure),
    h("p", null, "Log in with the identity of your kubeconfig: run this and open the link that it prints."),
    h("pre", { tabIndex: 0 }, "k8ts dashboard"),
    h(
      "form",
      { onSubmit: (event: Event) => void submit(event) },
      h("label", { for: "token" }, "Or paste a token, such as that of a ServiceAccount:"),
      h("input", {
        id: "token",
        type: "password",
        autocomplete: "off",
        required: true,
        value: token,
        onInput: ({ currentTarget }: { readonly currentTarget: HTMLInputElement }) => setToken(currentTarget.value),
      }),
      h("button", { type: "submit", class: "primary" }, "Log in"),
    ),
    h("p", null, "Or look at a recording that another dashboard exported:"),
    h("button", { type: "button", onClick: openRecording }, "Open a recording"),
    fileProblem === undefined ? null : h("p", { class: "note error", role: "alert" }, fileProblem),
  );
}
