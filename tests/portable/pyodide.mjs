// Check a suite with CPython in WebAssembly: node pyodide.mjs RUNTIME KERNEL SUITE OUT, as run.py does it.
import { readFileSync, readdirSync, writeFileSync } from "node:fs"
import { pathToFileURL } from "node:url"

const [runtime, kernel, suite, out] = process.argv.slice(2)
const { loadPyodide } = await import(pathToFileURL(`${runtime}/pyodide.mjs`).href)
const python = await loadPyodide({ indexURL: `${runtime}/` })
for (const name of readdirSync(`${kernel}/kernel`, { recursive: true }).filter((name) => name.endsWith(".py"))) {
  python.FS.mkdirTree(`/checked/kernel/${name}/..`.replace(/\/[^/]*\/\.\.$/, ""))
  python.FS.writeFile(`/checked/kernel/${name}`, readFileSync(`${kernel}/kernel/${name}`))
}
python.FS.writeFile("/suite.json", readFileSync(suite))
python.FS.writeFile("/run.py", readFileSync(new URL("run.py", import.meta.url)))
python.runPython(`
import runpy
runpy.run_path("/run.py")["main"]("/checked", "/suite.json", "/out.json")
`)
writeFileSync(out, python.FS.readFile("/out.json"))
