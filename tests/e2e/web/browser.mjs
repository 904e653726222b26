// Headless Chromium over its debugging protocol: what a page says, asks for, shows and does.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const patience = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

export class Browser {
  static async start(program) {
    const profile = mkdtempSync(join(tmpdir(), "celosia-browser-"));
    const process = spawn(program, ["--headless=new", "--no-sandbox", "--disable-gpu",
      "--no-first-run", "--disable-background-networking", "--remote-debugging-port=0",
      `--user-data-dir=${profile}`, "about:blank"], { stdio: "ignore" });
    for (let i = 0; i < 200; i++) {
      await patience(100);
      try {
        const [port, path] = readFileSync(join(profile, "DevToolsActivePort"), "utf8").split("\n");
        return await new Browser(process, profile).#connect(`ws://127.0.0.1:${port}${path}`);
      } catch { /* not there yet */ }
    }
    process.kill();
    throw new Error(`${program} must start within 20 s`);
  }

  constructor(process, profile) {
    Object.assign(this, { process, profile, waiting: new Map(), number: 0 });
  }

  async #connect(address) {
    this.socket = new WebSocket(address);
    await new Promise((resolve, reject) => {
      this.socket.onopen = resolve;
      this.socket.onerror = reject;
    });
    this.socket.onmessage = ({ data }) => this.#heard(JSON.parse(data));
    const { targetId } = await this.send("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await this.send("Target.attachToTarget", { targetId, flatten: true });
    this.session = sessionId;
    for (const domain of ["Page", "Runtime", "Network", "Log"]) await this.send(`${domain}.enable`);
    return this;
  }

  #heard({ id, result, error, method, params }) {
    if (id !== undefined) {
      const { resolve, reject } = this.waiting.get(id);
      this.waiting.delete(id);
      if (error) reject(new Error(error.message));
      else resolve(result);
    } else if (method === "Runtime.exceptionThrown") {
      this.errors.push(params.exceptionDetails.exception?.description
        ?? params.exceptionDetails.text);
    } else if (method === "Runtime.consoleAPICalled" && ["error", "warning"].includes(params.type)) {
      this.errors.push(params.args.map((each) => each.value ?? each.description).join(" "));
    } else if (method === "Log.entryAdded" && params.entry.level === "error") {
      this.errors.push(`${params.entry.text} ${params.entry.url ?? ""}`);
    } else if (method === "Network.requestWillBeSent") {
      this.requests.push(params.request.url);
    } else if (method === "Page.loadEventFired") {
      this.loaded?.();
    }
  }

  send(method, params = {}) {
    const id = ++this.number;
    const answer = new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject }));
    this.socket.send(JSON.stringify({ id, method, params, sessionId: this.session }));
    return answer;
  }

  async open(url, width = 1280, height = 900) {
    this.errors = [];
    this.requests = [];
    await this.send("Emulation.setDeviceMetricsOverride",
      { width, height, deviceScaleFactor: 1, mobile: width < 600 });
    const loaded = new Promise((resolve) => { this.loaded = resolve; });
    await this.send("Page.navigate", { url });
    await Promise.race([loaded, patience(30_000).then(() => {
      throw new Error(`${url} must load within 30 s`);
    })]);
    await patience(150);
  }

  async evaluate(expression) {
    const { result, exceptionDetails } = await this.send("Runtime.evaluate",
      { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails) {
      throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    }
    return result.value;
  }

  /** Wait until an expression holds. */
  async until(expression, seconds = 30) {
    for (let i = 0; i < seconds * 10; i++) {
      const value = await this.evaluate(expression);
      if (value) return value;
      await patience(100);
    }
    throw new Error(`within ${seconds} s there must be: ${expression}`);
  }

  async screenshot(file) {
    const { data } = await this.send("Page.captureScreenshot",
      { format: "png", captureBeyondViewport: true });
    writeFileSync(file, Buffer.from(data, "base64"));
  }

  async stop() {
    this.process.kill();
    await new Promise((resolve) => this.process.once("exit", resolve));
    rmSync(this.profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}
