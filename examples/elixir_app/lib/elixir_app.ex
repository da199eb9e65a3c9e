defmodule ElixirApp do
  @moduledoc """
  Works, and asks erltrace how long the work takes: for two seconds a script watches `Enum.map/2` in this node. Then the node ends.
  """
  use Application

  @script """
  Enum.map/2 { self->began = timestamp; }
  Enum.map/2:return /self->began/
  {
      @took["Enum.map/2, ns"] = quantize(timestamp - self->began);
      self->began = 0;
  }
  """

  @impl true
  def start(_type, _args) do
    Supervisor.start_link([{Task, &ask/0}, Supervisor.child_spec({Task, &work/0}, id: :work)],
      strategy: :one_for_one
    )
  end

  def work do
    total = 1..Enum.random(1..300) |> Enum.map(&(&1 * &1)) |> Enum.sum()
    Process.sleep(1)
    if total >= 0, do: work()
  end

  def ask do
    # Elixir's strings are binaries.
    case :erltrace.run(@script, 2000, strings: :binary) do
      {:ok, %{aggregations: [{"took", [{:quantize, [name], buckets}]}]}} ->
        IO.puts(name)
        all = Enum.reduce(buckets, 0, fn {_, n}, sum -> sum + n end)

        for {{from, to}, n} <- buckets do
          bar = String.duplicate("@", div(40 * n, all))
          IO.puts("#{String.pad_leading("#{from}", 10)} .. #{String.pad_trailing("#{to}", 10)} #{n} #{bar}")
        end

        System.halt(0)

      other ->
        IO.puts(:erltrace.format_error(other))
        System.halt(1)
    end
  end
end
