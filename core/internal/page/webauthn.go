package page

import (
	"strconv"
	"time"
)

// passkey writes the form of a WebAuthn provider. It is hidden until the script has found that the browser can do it.
func (s *SignIn) passkey(w *writer, p *Provider, first bool) {
	autofill := ""
	if p.Autofill > 0 {
		autofill = strconv.FormatInt(int64(p.Autofill/time.Millisecond), 10)
	}
	w.html(`<form method="POST" action="$" id="$-form" data-options="$"[ data-action="$"][ data-autofill="$"] hidden>`+
		`<input type="hidden" name="csrfToken"[ value="$"]>`,
		webURL(p.Action), p.ID, webURL(p.Options), when(p.Registers, "register"), autofill, s.CSRFToken)
	for i := range p.Fields {
		focus := first && i == 0
		w.field(&p.Fields[i], p.ID, when(focus, "autofocus"), when(focus && s.Error != "", "error"))
	}
	text := "Sign in with " + p.Name
	if p.Registers {
		text = "Add a passkey"
	}
	w.html(`<div class="error" role="alert" hidden><p></p></div><button type="submit" class="primary">$</button></form>`+
		`<noscript><p>Passkeys need JavaScript.</p></noscript>`, text)
}

// ContentSecurityPolicy returns the header's value for this page: that of the theme and, if there is a script, the script
// by its hash, and its requests to the site itself.
func (s SignIn) ContentSecurityPolicy() string {
	policy := s.Theme.ContentSecurityPolicy()
	if s.Script != "" {
		policy += "; script-src " + hashSource(string(s.Script)) + "; connect-src 'self'"
	}
	return policy
}

// PasskeyScript runs the forms of WebAuthn providers. It asks the server for options, the browser for an answer to them, and
// submits the answer with the form. An empty form signs in with any passkey; with an address in it, the server decides
// whether to sign in or to register. It has no "<" and no "&", so that nothing in it can end the element or be mistaken for markup.
const PasskeyScript Script = `
(() => {
  "use strict";
  const decode = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
  const encode = (bytes) => btoa(String.fromCharCode(...new Uint8Array(bytes))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
  const decodeIDs = (list) => list.map((c) => ({ ...c, id: decode(c.id) }));
  const reasons = {
    NotAllowedError: "No passkey was used: it was cancelled, took too long, or there is none on this device.",
    InvalidStateError: "This device has a passkey of yours already.",
    Refused: "Please check what you entered.",
  };
  let running;

  const options = async (form, action, fields) => {
    const url = new URL(form.dataset.options, location.href);
    if (action) url.searchParams.set("action", action);
    for (const field of fields) url.searchParams.set(field.name, field.value);
    const response = await fetch(url);
    if (response.status === 400) throw new DOMException("", "Refused");
    if (!response.ok) throw new Error(response.status);
    return response.json();
  };

  const authenticator = async ({ action, options }, mediation) => {
    if (running) running.abort();
    running = new AbortController();
    const { signal } = running;
    const publicKey = { ...options, challenge: decode(options.challenge) };
    const creates = action === "register";
    if (creates) {
      publicKey.user = { ...options.user, id: decode(options.user.id) };
      publicKey.excludeCredentials = decodeIDs(options.excludeCredentials);
    } else if (options.allowCredentials) {
      publicKey.allowCredentials = decodeIDs(options.allowCredentials);
    }
    const credential = await (creates ? navigator.credentials.create({ publicKey, signal }) : navigator.credentials.get({ publicKey, mediation, signal }));
    const given = credential.response;
    const response = { clientDataJSON: encode(given.clientDataJSON) };
    if (creates) {
      response.attestationObject = encode(given.attestationObject);
      response.transports = given.getTransports ? given.getTransports() : [];
    } else {
      response.authenticatorData = encode(given.authenticatorData);
      response.signature = encode(given.signature);
      if (given.userHandle) response.userHandle = encode(given.userHandle);
    }
    return {
      id: credential.id, rawId: encode(credential.rawId), type: credential.type, response,
      clientExtensionResults: credential.getClientExtensionResults(), authenticatorAttachment: credential.authenticatorAttachment,
    };
  };

  const submit = (form, action, data) => {
    for (const [name, value] of Object.entries({ action, data: JSON.stringify(data) })) {
      const input = document.createElement("input");
      Object.assign(input, { type: "hidden", name, value });
      form.append(input);
    }
    HTMLFormElement.prototype.submit.call(form);
  };

  const autofill = async (form) => {
    const can = PublicKeyCredential.isConditionalMediationAvailable;
    if (!form.dataset.autofill || !can || !(await can.call(PublicKeyCredential))) return;
    let renew;
    try {
      const asked = await options(form, "authenticate", []);
      renew = setTimeout(() => autofill(form), Number(form.dataset.autofill));
      submit(form, asked.action, await authenticator(asked, "conditional"));
    } catch (error) {
      if (error.name !== "AbortError") console.warn(error);
    } finally {
      clearTimeout(renew);
    }
  };

  for (const form of document.querySelectorAll("form[data-options]")) {
    if (!window.PublicKeyCredential) continue;
    form.hidden = false;
    const alert = form.querySelector("[role=alert]");
    const button = form.querySelector("button");
    const fields = [...form.querySelectorAll(".field input")];
    const focus = form.querySelector("[autofocus]");
    if (focus) focus.focus();
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      alert.hidden = button.disabled = true;
      const empty = fields.every((field) => !field.value.trim());
      const action = form.dataset.action || (empty ? "authenticate" : undefined);
      try {
        const asked = await options(form, action, empty ? [] : fields);
        submit(form, asked.action, await authenticator(asked));
      } catch (error) {
        alert.firstChild.textContent = reasons[error.name] || "Something went wrong. Please try again.";
        alert.hidden = button.disabled = false;
        button.focus();
        autofill(form);
      }
    });
    autofill(form);
  }
})();
`
