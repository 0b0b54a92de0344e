/** Entry of the page in a browser, on the API server that served it. */
import { h, render } from "preact";
import { App } from "./app.ts";
import { thisBrowser } from "./page/browser.ts";
import { fetchConnection } from "./page/fetch-connection.ts";
import { rootElement } from "./page/root-element.ts";

const browser = thisBrowser();
browser.theme.show();
render(h(App, { browser, connect: fetchConnection }), rootElement());
