// The page: it hands texts to the worker and shows its answers. Whatever comes from a text is shown as text.
const $ = (id) => document.getElementById(id)
const MOST = 1000000
let worker = null, ready = null, count = 0
const waiting = new Map()
const say = (text) => ($("check-status").textContent = text)
const ask = (message) => new Promise((resolve, reject) => {
  const id = ++count
  waiting.set(id, [resolve, reject])
  worker.postMessage({ ...message, id })
})
const end = (reason) => {
  if (worker) worker.terminate()
  worker = ready = null
  for (const [, reject] of waiting.values()) reject(new Error(reason))
  waiting.clear()
}
const start = () => {
  if (ready) return ready
  const embedded = (id) => $(id).textContent.trim()
  const address = URL.createObjectURL(new Blob([embedded("worker-source")], { type: "text/javascript" }))
  worker = new Worker(address)
  worker.onmessage = ({ data }) => {
    const [resolve, reject] = waiting.get(data.id) ?? []
    waiting.delete(data.id)
    if (!resolve) return
    if ("failure" in data) reject(new Error(data.failure))
    else resolve(data.answer)
  }
  worker.onerror = (problem) => end(problem.message || "the worker ended")
  say("Python starts in this browser ...")
  const parts = { wasm: embedded("runtime-wasm"), library: embedded("runtime-library"), checker: embedded("checker"), harness: embedded("harness") }
  ready = ask({ what: "begin", ...parts }).then(async (begun) => {
    URL.revokeObjectURL(address)
    await compareSources(begun.sources)
    $("check-python").textContent = begun.python
  })
  return ready
}
// the sources that the page shows are those that run, and the file has the hash that the page names
const compareSources = async (sources) => {
  const shown = [...document.querySelectorAll("pre[data-module]")]
  const same = shown.length === Object.keys(sources).length && shown.every((part) => sources[part.dataset.module] === part.textContent.replace(/^\n/, ""))
  if (!same) throw new Error("the kernel's sources that are shown are not those that would run")
  const bytes = Uint8Array.from(atob($("checker").textContent.trim()), (letter) => letter.charCodeAt(0))
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes))
  const hex = [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("")
  if (hex !== $("check-digest").textContent.trim()) throw new Error("checker.pyz does not have the SHA-256 that the page names")
}
const judge = async (text) => {
  if (text.length > MOST) return { accepted: false, step: "certificate", reason: `the text has ${text.length} characters, and the kernel reads at most ${MOST}`, claims: [], about: [] }
  await start()
  return ask({ what: "judge", values: [text] })
}
const show = (place, answer) => {
  const verdict = document.createElement("strong")
  verdict.textContent = answer.accepted ? "accepted" : answer.other ? "not checked" : "rejected"
  verdict.className = `badge ${answer.accepted ? "good" : "bad"}`
  const rest = answer.accepted
    ? answer.claims.map(([claim, verdict, bound]) => `${claim} ${verdict}${bound === null ? "" : " " + bound}`).join("; ")
    : answer.other ? answer.reason : `at ${answer.step}: ${answer.reason}`
  place.replaceChildren(verdict, ` ${rest}`)
  if (answer.about.length) {
    const about = document.createElement("pre")
    about.tabIndex = 0
    about.textContent = answer.about.join("\n").slice(0, 4000)
    place.append(about)
  }
}
const busy = (on) => {
  for (const button of document.querySelectorAll("button[data-run]")) button.disabled = on
  $("check-stop").disabled = !on
}
const guarded = (work) => async (event) => {
  event?.preventDefault()
  busy(true)
  const begun = performance.now()
  try {
    const said = await work()
    say(`${said} (${((performance.now() - begun) / 1000).toFixed(1)} s)`)
  } catch (problem) {
    say(`Not checked: ${String(problem.message || problem).slice(0, 300)}.`)
    if (problem.message !== "stopped") end("the worker is started again")
  } finally {
    busy(false)
  }
}
const checkReport = async () => {
  const parts = [...document.querySelectorAll("[data-certificate]")]
  const claim = $("check-claim")
  const number = document.querySelector("#result .headline mn")
  let accepted = 0, bound = null
  for (const [i, part] of parts.entries()) {
    say(`Certificate ${i + 1} of ${parts.length}: ${part.dataset.certificate} ...`)
    const answer = await judge(part.querySelector("textarea").value)
    show(part.querySelector(".answer"), answer)
    accepted += answer.accepted
    if (answer.accepted) bound = answer.claims.find(([name]) => name === "epsilon-upper")?.[2] ?? bound
  }
  const state = $("check-side")
  if (accepted < parts.length) {
    if (number) number.textContent = "?"
    if (state) state.textContent = "not accepted in this browser"
    return `Rejected: ${parts.length - accepted} of ${parts.length} certificates; see the step beside each`
  }
  if (!claim) return `Accepted: all ${parts.length} certificates`
  if (bound === null) {
    if (state) state.textContent = "the certificates do not state this number"
    return `Accepted: all ${parts.length} certificates; none of their claims is the bound on epsilon itself, which rests on the derivation below`
  }
  const found = await ask({ what: "round_up", values: [bound, claim.value.trim()] })
  number.textContent = found.bound
  state.textContent = found.same ? "accepted by the kernel in this browser" : "what the kernel accepted in this browser"
  if (!found.same) return `Rejected at the claim: the report claims ${claim.value.trim().slice(0, 60)}, and the certificate proves ${found.bound}`
  return `Accepted: all ${parts.length} certificates; epsilon is at most ${found.bound}, as the report claims`
}
$("check-stop").addEventListener("click", () => { end("stopped"); busy(false) })
$("check-again")?.addEventListener("click", guarded(checkReport))
// the page that checks what is dropped
const readFile = async (file) => {
  if (file.size > 4 * MOST) throw new Error(`the file has ${file.size} bytes, and the kernel reads at most ${MOST} characters`)
  $("dropped-text").value = await file.text()
}
const checkDropped = async () => {
  const answer = await judge($("dropped-text").value)
  show($("dropped-answer"), answer)
  return answer.accepted ? "Accepted" : answer.other ? "Not checked" : `Rejected at ${answer.step}`
}
$("dropped-file")?.addEventListener("change", guarded(async () => { await readFile($("dropped-file").files[0]); return checkDropped() }))
$("dropped-check")?.addEventListener("click", guarded(checkDropped))
for (const kind of ["dragover", "drop"]) $("drop")?.addEventListener(kind, (event) => {
  event.preventDefault()
  if (kind === "drop" && event.dataTransfer.files.length) guarded(async () => { await readFile(event.dataTransfer.files[0]); return checkDropped() })(event)
})
const pairs = (text, read) => Object.fromEntries(text.split(/[;\n]/).map((line) => line.trim()).filter(Boolean).map((line) => {
  const [name, value] = line.split("=").map((part) => part.trim())
  if (!value) throw new Error(`name = value was expected, but ${line.slice(0, 60)} was found`)
  return [name, read(value)]
}))
const range = (value) => {
  const ends = value.replace(/^\[|\]$/g, "").split(",").map((end) => end.trim())
  if (ends.length !== 2) throw new Error(`a range such as [0, 4] was expected, but ${value.slice(0, 60)} was found`)
  return ends
}
$("typed")?.addEventListener("submit", guarded(async () => {
  const value = (id) => $(id).value.trim()
  const asked = {
    epsilon: value("typed-epsilon"), record: pairs(value("typed-record"), range), q: value("typed-q"), bound: value("typed-bound"),
    parameters: pairs(value("typed-parameters"), (text) => (text === "positive" ? text : text.startsWith("[") ? range(text) : text)),
  }
  await start()
  const answer = await ask({ what: "attempt", values: [JSON.stringify(asked)] })
  const place = $("typed-answer")
  if (answer.accepted) {
    place.textContent = "accepted: the certificate that was found stands in the field above"
    $("dropped-text").value = answer.certificate
    return "Accepted"
  }
  place.textContent = `not accepted by these rules: at ${answer.step}: ${answer.reason}`
  return "Not accepted by these rules (which says nothing about the claim being false)"
}))
