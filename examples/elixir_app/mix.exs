defmodule ElixirApp.MixProject do
  use Mix.Project

  # A project that depends on erltrace by path. Mix compiles it with rebar3 (MIX_REBAR3 says where that is, unless Mix has one of its own),
  # and its compile hook builds its C code. `--no-halt`, because `mix run` otherwise ends as soon as the application has started.
  #
  #   MIX_REBAR3=$(command -v rebar3) mix run --no-halt
  def project do
    [
      app: :elixir_app,
      version: "0.1.0",
      elixir: "~> 1.12",
      deps: [{:erltrace, path: "../.."}],
      releases: [elixir_app: [include_erts: false, quiet: true]]
    ]
  end

  def application do
    [mod: {ElixirApp, []}, extra_applications: [:logger]]
  end
end
